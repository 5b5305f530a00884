// Captured frames: the first byte chooses where the bytes start and the form, the rest is a frame.
#include "fuzz.h"

#include "decode/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    PacketInput input = {
        .bytes = {(const char *)data + 1, size - 1},
          .media = data[0] & 15u, .sent = data[0] & 16
    };
    Packet packet;
    char tuple[PACKET_TUPLE_SIZE];
    AUTO(buf_done) Buf text = {0};
    packet_decode(&input, &packet, NULL);
    INVARIANT(packet_tuple(&packet, tuple).n < sizeof tuple);
    INVARIANT(packet.payload.n <= size);
    packet_print(&input, !(data[0] & 32), &text);
    INVARIANT(text.n > 0 || (data[0] & 32));
    return 0;
}
