// Rows of kernel event families on traces built for the purpose (synthetic): joins over time,
// versions, units, and the machine's tables.
#include "decode_rows.h"

typedef struct Case {
    const char *name, *script, *what, *expected;
} Case;

#define HEAD                                                                                       \
    "trace cpus=2\n"                                                                               \
    "process rundown 0ms pid=100 name=a.exe\n"                                                     \
    "process rundown 0ms pid=200 name=b.exe\n"                                                     \
    "thread rundown 0ms pid=100 tid=101\n"                                                         \
    "thread rundown 0ms pid=200 tid=201\n"

// clang-format off
static const Case CASES[] = {
    // ---- disk
    {"a completion belongs to the thread that asked, with times in nanoseconds",
     HEAD "disk read-init 1ms irp=0x10 tid=101 by=101\n"
     "disk read 3ms disk=2 bytes=4096 offset=8192 key=0x77 irp=0x10 response=2ms tid=101 by=201 "
     "flags=0x60043\n",
     "disk_io: ts_ns upid utid kind disk bytes offset start_ns response_ns irp irp_flags "
     "io_priority file_key",
     "3000000 1 1 read 2 4096 2000 1000000 2000000 10 393283 3 77\n"},
    {"before version 3 the start's header names the thread; without a start nobody does",
     HEAD "disk write-init 1ms irp=0x10 version=2 by=101 by_pid=100\n"
     "disk write 2ms irp=0x10 bytes=512 response=1ms version=2 by=201 by_pid=200\n"
     "disk write 3ms irp=0x20 bytes=512 response=1ms version=2 by=201 by_pid=200\n",
     "disk_io: ts_ns kind utid", "2000000 write 1\n3000000 write -\n"},
    {"an address used again: the latest earlier start counts, and only one of the same kind",
     HEAD "disk read-init 1ms irp=0x10 version=2 by=101 by_pid=100\n"
     "disk read 2ms irp=0x10 response=1ms version=2\n"
     "disk read-init 3ms irp=0x10 version=2 by=201 by_pid=200\n"
     "disk read 4ms irp=0x10 response=1ms version=2\n"
     "disk write 5ms irp=0x10 response=1ms version=2\n",
     "disk_io: ts_ns kind utid", "2000000 read 1\n4000000 read 2\n5000000 write -\n"},
    {"a start much older than the response belongs to another request",
     HEAD "disk read-init 1ms irp=0x10 version=2 by=101 by_pid=100\n"
     "disk read 500ms irp=0x10 response=1ms version=2\n"
     "disk read-init 501ms irp=0x10 version=2 by=101 by_pid=100\n"
     "disk read 800ms irp=0x10 response=299ms version=2\n",
     "disk_io: ts_ns utid", "500000000 -\n800000000 1\n"},
    {"the stack of the start serves the completion",
     HEAD "disk read-init 1ms irp=0x10 tid=101 by=101 by_pid=100 stack=0xfffff80000001000\n"
     "disk read 2ms irp=0x10 tid=101 response=1ms by=201 by_pid=200\n",
     "disk_io: stack_id", "1\n"},
    {"version 0 has neither time nor IRP",
     HEAD "disk read 2ms bytes=512 version=0\n"
     "disk read 3ms bytes=512 version=1 response=500us\n",
     "disk_io: ts_ns bytes start_ns response_ns irp utid",
     "2000000 512 - - - -\n3000000 512 2500000 500000 - -\n"},
    {"flushes move no bytes",
     HEAD "disk flush 2ms disk=1 irp=0x10 response=1ms tid=101\n"
     "disk flush-init 1ms irp=0x10 tid=101\n",
     "disk_io: kind disk bytes offset start_ns utid file_key", "flush 1 - - 1000000 1 -\n"},
    {"requests at their start",
     HEAD "disk read-init 1ms irp=0x10 tid=101\n"
     "disk write-init 2ms irp=0x11 tid=201\n"
     "disk flush-init 3ms irp=0x12 version=2 by=101 by_pid=100\n",
     "disk_io_init: ts_ns kind irp utid", "1000000 read 10 1\n2000000 write 11 2\n3000000 flush 12 1\n"},
    // ---- files
    {"names of files, with letters",
     HEAD "system volume 0ms nt=\\Device\\HarddiskVolume3\\ dos=C:\\\n"
     "file name 1ms key=0x10 name=\\Device\\HarddiskVolume3\\a\n"
     "file name-create 2ms key=0x11 name=\\Device\\HarddiskVolume3\\b\n"
     "file name-delete 3ms key=0x12 name=\\Device\\X\\c\n"
     "file rundown 4ms key=0x13 name=\\??\\d\n",
     "file_name: file_key kind name path",
     "10 name \\Device\\HarddiskVolume3\\a C:\\a\n11 create \\Device\\HarddiskVolume3\\b C:\\b\n"
     "12 delete \\Device\\X\\c \\Device\\X\\c\n13 rundown \\??\\d d\n"},
    {"operations find the end of their IRP, both layouts",
     HEAD "file create 1ms irp=0x10 object=0x20 tid=101 options=0x01000060 attributes=0x80 share=7 "
     "path=\\Device\\X\\f\n"
     "file end 2ms irp=0x10 info=1 status=0\n"
     "file read 3ms irp=0x10 object=0x20 key=0x30 tid=101 offset=4096 bytes=512 flags=5\n"
     "file end 4ms irp=0x10 info=100 status=0x103\n"
     "file write 5ms irp=0x11 object=0x20 key=0x30 tid=201 offset=1 bytes=2 version=2\n",
     "file_io: ts_ns kind utid irp file_object file_key file offset bytes create_options "
     "file_attributes share_access io_flags end_ns status information",
     "1000000 create 1 10 20 - \\Device\\X\\f - - 16777312 128 7 - 2000000 0 1\n"
     "3000000 read 1 10 20 30 \\Device\\X\\f 1000 512 - - - 5 4000000 259 64\n"
     "5000000 write 2 11 20 30 \\Device\\X\\f 1 2 - - - 0 - - -\n"},
    {"an operation whose IRP starts another one first has no end",
     HEAD "file read 1ms irp=0x10 object=0x20 key=0x30 tid=101\n"
     "file close 2ms irp=0x10 object=0x20 key=0x30 tid=101\n"
     "file end 3ms irp=0x10 status=0\n",
     "file_io: ts_ns kind end_ns", "1000000 read -\n2000000 close 3000000\n"},
    {"an end without its operation keeps a row",
     HEAD "file end 3ms irp=0x10 status=0xC0000022 info=7 by=101 by_pid=100\n",
     "file_io: ts_ns kind irp end_ns status information file_object",
     "3000000 end 10 3000000 3221225506 7 -\n"},
    {"the event that adds a path shares the end of its operation",
     HEAD "file rename 1ms irp=0x10 object=0x20 key=0x30 tid=101 info=5 class=10\n"
     "file rename-path 2ms irp=0x10 object=0x20 key=0x30 tid=101 class=10 path=\\Device\\X\\new\n"
     "file end 3ms irp=0x10 status=0\n",
     "file_io: ts_ns kind file info_class extra_info end_ns",
     "1000000 rename - 10 5 3000000\n2000000 rename_path \\Device\\X\\new 10 0 3000000\n"},
    {"every kind of operation",
     HEAD "file cleanup 1ms irp=1 tid=101\nfile close 2ms irp=1 tid=101\n"
     "file set-info 3ms irp=1 tid=101\nfile delete 4ms irp=1 tid=101\n"
     "file directory 5ms irp=1 tid=101 length=9\nfile flush 6ms irp=1 tid=101\n"
     "file query-info 7ms irp=1 tid=101\nfile fs-control 8ms irp=1 tid=101\n"
     "file notify 9ms irp=1 tid=101 version=2\nfile delete-path 9.5ms irp=1 tid=101\n",
     "file_io: ts_ns kind utid bytes",
     "1000000 cleanup 1 -\n2000000 close 1 -\n3000000 set_info 1 -\n4000000 delete 1 -\n"
     "5000000 dir_enum 1 9\n6000000 flush 1 -\n7000000 query_info 1 -\n8000000 fs_control 1 -\n"
     "9000000 dir_notify 1 0\n9500000 delete_path 1 -\n"},
    // ---- memory
    {"a hard fault takes the time since it began",
     HEAD "fault hard 5ms took=2ms offset=4096 address=0x7000 key=0x10 tid=201 bytes=8192\n",
     "hard_fault: ts_ns utid start_ns duration_ns address offset bytes file_key",
     "5000000 2 3000000 2000000 7000 1000 8192 10\n"},
    {"soft faults belong to who runs there",
     HEAD "cswitch 1ms cpu=1 new=201 old=0\n"
     "fault transition 2ms cpu=1 address=0x5000 ip=0x6000\n"
     "fault demand-zero 3ms cpu=1 address=0x5000 ip=0x6000\n"
     "fault copy-on-write 4ms cpu=1 address=0x5000 ip=0x6000\n"
     "fault guard-page 5ms cpu=1 address=0x5000 ip=0x6000\n"
     "fault hard-address 6ms cpu=1 address=0x5000 ip=0x6000\n"
     "fault access-violation 7ms cpu=0 address=0x5000 ip=0\n",
     "page_fault: ts_ns kind utid address program_counter frame_id",
     "2000000 transition 3 5000 6000 8000000000006000\n"
     "3000000 demand_zero 3 5000 6000 8000000000006000\n"
     "4000000 copy_on_write 3 5000 6000 8000000000006000\n"
     "5000000 guard_page 3 5000 6000 8000000000006000\n"
     "6000000 hard 3 5000 6000 8000000000006000\n"
     "7000000 access_violation - 5000 0 -\n"},
    {"memory belongs to the process in the event, the thread to who asked",
     HEAD "cswitch 1ms cpu=0 new=201 old=0\n"
     "virtual alloc 2ms base=0x20000 size=65536 pid=100 flags=0x3000\n"
     "virtual free 3ms base=0x20000 size=65536 pid=100 flags=0x8000\n"
     "virtual rundown 4ms base=0x20000 size=65536 pid=200 committed=4096\n"
     "virtual rundown-end 5ms base=0x20000 size=65536 pid=200 committed=8192\n",
     "virtual_alloc: kind upid utid base bytes flags commit_bytes",
     "alloc 2 3 20000 10000 12288 -\nfree 2 3 20000 10000 32768 -\n"
     "rundown_end 3 - 20000 10000 4096 2000\nrundown_start 3 - 20000 10000 4096 1000\n"},
    // ---- network
    {"local and remote ends, both address families",
     HEAD "tcp send 1ms pid=100 bytes=1000 local=10.0.0.1:1234 remote=10.0.0.2:80\n"
     "tcp recv 2ms pid=100 bytes=7 local=[fe80::1]:1234 remote=[2001:db8:0:1::2]:80\n"
     "tcp connect 3ms pid=200 local=10.0.0.1:5 remote=10.0.0.2:443 mss=1460 window=65535\n"
     "tcp accept 4ms pid=200 local=[::1]:5 remote=[::]:443 mss=1460\n"
     "tcp fail 5ms code=3\n",
     "tcp_event: kind upid ip_version pid bytes local_address local_port remote_address "
     "remote_port mss receive_window failure_code",
     "accept 2 6 200 0 ::1 5 :: 443 1460 65535 -\n"
     "connect 2 4 200 0 10.0.0.1 5 10.0.0.2 443 1460 65535 -\n"
     "fail - - - - - - - - - - 3\n"
     "receive 1 6 100 7 fe80::1 1234 2001:db8:0:1::2 80 - - -\n"
     "send 1 4 100 1000 10.0.0.1 1234 10.0.0.2 80 - - -\n"},
    {"the rest of TCP",
     HEAD "tcp disconnect 1ms pid=100\ntcp retransmit 2ms pid=100\ntcp reconnect 3ms pid=100\n"
     "tcp copy 4ms pid=100\n",
     "tcp_event: ts_ns kind source", "1000000 disconnect kernel\n2000000 retransmit kernel\n"
     "3000000 reconnect kernel\n4000000 copy kernel\n"},
    {"the source of a datagram that arrives is remote",
     HEAD "udp send 1ms pid=100 bytes=5 local=10.0.0.1:53 remote=10.0.0.9:99\n"
     "udp recv 2ms pid=100 bytes=6 local=10.0.0.1:53 remote=10.0.0.9:99\n"
     "udp recv 3ms pid=200 bytes=7 local=[fe80::1]:53 remote=[::ffff:0a00:0009]:99\n"
     "udp fail 4ms code=9\n",
     "udp_event: ts_ns kind upid bytes local_address local_port remote_address remote_port "
     "failure_code",
     "1000000 send 1 5 10.0.0.1 53 10.0.0.9 99 -\n2000000 receive 1 6 10.0.0.1 53 10.0.0.9 99 -\n"
     "3000000 receive 2 7 fe80::1 53 ::ffff:10.0.0.9 99 -\n4000000 fail - - - - - - 9\n"},
    // ---- pool
    {"pool tags as text, without the bit of protected blocks",
     HEAD "pool alloc 1ms tag=Ntfs bytes=256 entry=0xe010 type=1\n"
     "pool free 2ms tag=Ntfs bytes=256 entry=0xe010\n"
     "pool alloc-session 3ms tag=Gh05 bytes=16 session=2\n"
     "event 4ms hook=0x0E20 version=2 payload=00000000" "41425CC3" "0800000000000000" "0000000000000001\n",
     "pool_event: ts_ns kind tag bytes address session_id",
     "1000000 alloc Ntfs 100 e010 -\n2000000 free Ntfs 100 e010 -\n3000000 alloc Gh05 10 0 2\n"
     "4000000 alloc AB\\x5CC 8 100000000000000 -\n"},
    // ---- registry
    {"names of keys make paths, whenever they are stated",
     HEAD "registry kcb-create 1ms key=0x50 name=\\REGISTRY\\MACHINE\\ONE\n"
     "registry open 2ms start=1.5ms key=0x50 name=Sub\n"
     "registry kcb-create 3ms key=0x50 name=\\REGISTRY\\MACHINE\\TWO\n"
     "registry set-value 4ms start=4ms status=0xC0000022 index=3 key=0x50 name=Value\n"
     "registry query 5ms start=4ms key=0x60\n"
     "registry open 6ms start=4ms key=0 name=\\REGISTRY\\USER\n"
     "registry delete 7ms start=4ms key=0x70 name=Lost\n"
     "registry kcb-delete 9ms key=0x60 name=\\REGISTRY\\LATE\n",
     "registry_event: ts_ns kind start_ns duration_ns status index key_handle name path",
     "1000000 kcb_create - - 0 0 50 \\REGISTRY\\MACHINE\\ONE \\REGISTRY\\MACHINE\\ONE\n"
     "2000000 open 1500000 500000 0 0 50 Sub \\REGISTRY\\MACHINE\\ONE\\Sub\n"
     "3000000 kcb_create - - 0 0 50 \\REGISTRY\\MACHINE\\TWO \\REGISTRY\\MACHINE\\TWO\n"
     "4000000 set_value 4000000 0 3221225506 3 50 Value \\REGISTRY\\MACHINE\\TWO\\Value\n"
     "5000000 query 4000000 1000000 0 0 60  \\REGISTRY\\LATE\n"
     "6000000 open 4000000 2000000 0 0 0 \\REGISTRY\\USER \\REGISTRY\\USER\n"
     "7000000 delete 4000000 3000000 0 0 70 Lost -\n"
     "9000000 kcb_delete - - 0 0 60 \\REGISTRY\\LATE \\REGISTRY\\LATE\n"},
    // ---- interrupts
    {"interrupts end at their event",
     HEAD "dpc 1ms cpu=1 took=100us routine=0xfffff80000002000\n"
     "dpc threaded 2ms took=1ms routine=0xfffff80000002000\n"
     "dpc timer 3ms took=1us routine=0xfffff80000002000\n"
     "isr 4ms took=10us routine=0xfffff80000002000 vector=0x91 return=1\n"
     "isr passive 5ms took=10us routine=0xfffff80000002000 version=1 return=1\n"
     "isr msi 6ms took=10us routine=0xfffff80000002000 message=2 vector=3\n"
     "dpc 7ms start=8ms routine=0xfffff80000002000\n",
     "interrupt: ts_ns kind start_ns duration_ns routine frame_id vector return_value "
     "message_number",
     "1000000 dpc 900000 100000 fffff80000002000 fffff80000002000 - - -\n"
     "2000000 threaded_dpc 1000000 1000000 fffff80000002000 fffff80000002000 - - -\n"
     "3000000 timer_dpc 2999000 1000 fffff80000002000 fffff80000002000 - - -\n"
     "4000000 isr 3990000 10000 fffff80000002000 fffff80000002000 145 1 -\n"
     "5000000 passive_isr 4990000 10000 fffff80000002000 fffff80000002000 - 1 -\n"
     "6000000 isr_msi 5990000 10000 fffff80000002000 fffff80000002000 3 1 2\n"
     "7000000 dpc - - fffff80000002000 fffff80000002000 - - -\n"},
    // ---- locks
    {"locks and waits",
     HEAD "spinlock 1ms lock=0xa000 caller=0xfffff80000004000 acquired=500us released=600us "
     "wait_cycles=900 spins=4 tid=101 irql=2 depth=1 flags=0x41\n"
     "resource 2ms resource=0xa100 tid=201 action=0x00010024 wait=2ms hold=1ms depth=3\n"
     "event 3ms hook=0x052C version=2 payload=00B0000000000000" "6500000001\n"
     "event 4ms hook=0x052D version=2 payload=65000000" "00000000" "00C000000000000007\n",
     "lock_event: ts_ns kind utid lock frame_id acquire_ns release_ns wait_cycles spin_count irql "
     "action flags depth hold_ticks wait_ticks",
     "1000000 spinlock 1 a000 fffff80000004000 500000 600000 900 4 2 - 65 1 - -\n"
     "2000000 resource 2 a100 - - - - - - 65572 - 3 2710 4e20\n"
     "3000000 pushlock 1 b000 - - - - - - 1 - - - -\n"
     "4000000 wait_single 1 c000 - - - - - - 7 - - - -\n"},
    // ---- marks, counters
    {"marks of tools and of the kernel",
     HEAD "mark 1ms text=\"phase two\"\n"
     "event 2ms hook=0x0F22 version=0 payload=48690000\n",
     "mark: ts_ns text", "1000000 phase two\n2000000 Hi\n"},
    {"values of counters, with their names",
     HEAD "cswitch 1ms cpu=1 new=201 old=101 counters=7,8\n"
     "sample 2ms cpu=1 tid=201 ip=0x1000 counters=9,10\n"
     "pmc config 3ms names=Misses|Cycles\n"
     "sample 4ms cpu=0 tid=101 ip=0x1000 counters=1,2,3\n",
     "pmc_counter: ts_ns utid event counter name value",
     "1000000 1 Thread/CSwitch 0 Misses 7\n1000000 1 Thread/CSwitch 1 Cycles 8\n"
     "2000000 2 PerfInfo/Sample 0 Misses 9\n2000000 2 PerfInfo/Sample 1 Cycles a\n"
     "4000000 - PerfInfo/Sample 0 Misses 1\n4000000 - PerfInfo/Sample 1 Cycles 2\n"
     "4000000 - PerfInfo/Sample 2 - 3\n"},
    // ---- classic headers
    {"kernel events with the headers of classic providers",
     "trace cpus=1\n"
     "classic 2ms guid=3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c opcode=3 version=1 f=:ptr:1 f=:u32:400 "
     "f=:u32:4 f=:u32:0 f=:i32:0 f=:u32:0 f=:astr:classic.exe\n",
     "process: pid name", "400 classic.exe\n4200 -\n"},
};
// clang-format on

static void run_cases(const Case *cases, size_t count) {
    char path[] = "/tmp/etw-test-kernel-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        Err err = {0};
        if (etl_build_script_file(str_from_c(cases[i].script), str_from_c(path), &err) != OK)
            fail_msg("%s\n%s", err.text, cases[i].script);
        DecodeSummary summary;
        Collected all = decode_file(path, 2, &summary);
        Buf got = {0};
        rows_text(&all, cases[i].what, &got);
        if (!str_eq(buf_str(&got), str_from_c(cases[i].expected))) {
            print_error("%s\nexpected:\n%sgot:\n%s\n", cases[i].name, cases[i].expected,
                        got.n ? got.p : "");
            wrong++;
        }
        buf_done(&got);
        collected_done(&all);
    }
    (void)unlink(path);
    assert_int_equal(wrong, 0);
}

static void test_rows(void **state) {
    (void)state;
    run_cases(CASES, COUNT_OF(CASES));
}

#define MACHINE                                                                                    \
    "trace cpus=4 mhz=3000\n"                                                                      \
    "config cpu 1ms mhz=2900 processors=4 memory_mb=16384 computer=PC1\n"                          \
    "config numbers 1ms numbers=0x00000000,0x00010000,0x00000001,0x00010001\n"                     \
    "config processor 1ms index=0 mhz=2901 name=\"CPU A\" vendor=Maker identifier=Family "         \
    "features=7\n"                                                                                 \
    "event 1ms hook=0x0B18 version=2 payload=02000000"                                             \
    "0300000000000000"                                                                             \
    "0000000000000000"                                                                             \
    "0300000000000000"                                                                             \
    "0100000000000000\n"                                                                           \
    "config disk 1ms disk=0 sector=512 sectors_per_track=63 tracks_per_cylinder=255 "              \
    "cylinders=1000 model=\"Disk A \" partitions=2 write_cache=1 letter=C\n"                       \
    "config disk 9ms disk=0 sector=512 sectors_per_track=63 tracks_per_cylinder=255 "              \
    "cylinders=1000 model=\"Disk A \" partitions=3 write_cache=1 letter=C\n"                       \
    "config logical-disk 1ms start=1048576 size=100000 disk=0 type=2 letter=C: partition=1 "       \
    "sectors_per_cluster=8 sector=512 free_clusters=10 clusters=20 fs=NTFS\n"                      \
    "system volume 2ms nt=\\Device\\HarddiskVolume3\\ dos=C:\\\n"                                  \
    "system volume 2ms nt=\\Device\\CdRom0\\ dos=D:\\\n"                                           \
    "system volume 2ms nt=\\SystemRoot\\ dos=C:\\Windows\\\n"                                      \
    "config nic 1ms mac=0x665544332211 ipv4_index=7 ipv6_index=8 description=Card "                \
    "addresses=10.0.0.1; dns=10.0.0.2;\n"                                                          \
    "config nic 9ms mac=0x665544332211 ipv4_index=7 ipv6_index=8 description=Card "                \
    "addresses=10.0.0.1; dns=10.0.0.2;\n"                                                          \
    "config service 1ms pid=0 state=1 tag=0 name=Svc display=\"A service\" process=\"\"\n"         \
    "config service 9ms pid=77 state=4 tag=5 name=Svc display=\"A service\" process=svc.exe "      \
    "svchost=netsvcs\n"                                                                            \
    "config pnp 1ms device=PCI\\1 description=Device friendly=Friend pdo=\\Device\\1 "             \
    "service=drv status=1 problem=2\n"                                                             \
    "config platform 1ms maker=Makers product=Box bios_date=2020 bios=1.2\n"                       \
    "config platform 9ms maker=Makers product=Box bios_date=2020 bios=1.2\n"

// clang-format off
static const Case MACHINE_CASES[] = {
    {"processors", MACHINE, "cpu: cpu group_number number_in_group numa_node mhz name vendor "
     "identifier features",
     "0 0 0 0 2901 CPU A Maker Family 7\n1 0 1 0 2900 - - - -\n2 1 0 1 2900 - - - -\n"
     "3 1 1 1 2900 - - - -\n"},
    {"disks: the later record counts", MACHINE, "disk: disk manufacturer size_bytes "
     "bytes_per_sector partitions write_cache boot_letter", "0 Disk A 1ea43d000 512 3 1 C\n"},
    {"volumes with their paths", MACHINE, "volume: letter nt_path disk partition drive_type "
     "start_offset size_bytes free_bytes total_bytes file_system bytes_per_sector "
     "sectors_per_cluster",
     "C: \\Device\\HarddiskVolume3\\ 0 1 2 100000 186a0 a000 14000 NTFS 512 8\n"
     "D: \\Device\\CdRom0\\ - - - - - - - - - -\n"},
    {"adapters", MACHINE, "nic: description mac ipv4_index ipv6_index addresses dns",
     "Card 11-22-33-44-55-66 7 8 10.0.0.1; 10.0.0.2;\n"},
    {"services", MACHINE, "service: pid state sub_process_tag name display_name process_name "
     "svchost_group", "77 4 5 Svc A service svc.exe netsvcs\n"},
    {"devices", MACHINE, "device: device_id description friendly_name pdo_name service status "
     "problem", "PCI\\1 Device Friend \\Device\\1 drv 1 2\n"},
};
// clang-format on

static void test_machine(void **state) {
    (void)state;
    run_cases(MACHINE_CASES, COUNT_OF(MACHINE_CASES));
}

// Of all facts, those that matter here: repeated records are one item, padding is none.
static void test_facts(void **state) {
    (void)state;
    char path[] = "/tmp/etw-test-kernel-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    Err err = {0};
    assert_int_equal(etl_build_script_file(STR(MACHINE), str_from_c(path), &err), OK);
    DecodeSummary summary;
    Collected all = decode_file(path, 1, &summary);
    Buf got = {0};
    rows_text(&all, "config: section item name value", &got);
    Str text = buf_str(&got);
    static const char *const THERE[] = {"platform 0 SystemManufacturer Makers\n",
                                        "platform 0 BiosVersion 1.2\n",
                                        "system 0 ComputerName PC1\n", "system 0 MemSize 16384\n",
                                        "path_mapping 0 \\SystemRoot\\ C:\\Windows\\\n"};
    for (size_t i = 0; i < COUNT_OF(THERE); i++) {
        if (str_find(text, str_from_c(THERE[i])) == SIZE_MAX)
            fail_msg("no %s in:\n" STR_FMT, THERE[i], STR_ARG(text));
    }
    assert_true(str_find(text, STR("platform 1")) == SIZE_MAX);
    assert_true(str_find(text, STR("Reserved")) == SIZE_MAX);
    buf_done(&got);
    collected_done(&all);
    (void)unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
