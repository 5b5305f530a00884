-- Modules of the network stack, kernel and user.
CREATE MACRO is_network_module(module) AS
    lower(module) IN (
        'tcpip.sys', 'tcpip6.sys', 'ndis.sys', 'afd.sys', 'http.sys', 'fwpkclnt.sys', 'netio.sys',
        'wfplwfs.sys', 'xdp.sys', 'xdplwf.sys', 'ebpfcore.sys', 'netebpfext.sys', 'mlx5.sys',
        'mlx4_bus.sys', 'ixgbe.sys', 'i40ea.sys', 'vmswitch.sys', 'pacer.sys', 'mux.sys',
        'vmsif.sys', 'wsk.sys', 'nsi.sys', 'mlnx5.sys', 'e1q63x64.sys', 'ixn63x64.sys',
        'i40e65.sys', 'mrvlpcie8897.sys', 'ws2_32.dll', 'wininet.dll', 'winhttp.dll', 'mswsock.dll',
        'msquic.dll', 'schannel.dll', 'ncrypt.dll');
