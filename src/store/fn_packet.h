// Captured frames for SQL (fn_packet.c):
//
//   packet_decode(bytes, media, original)      a structure of what analyses join on
//   packet_text / packet_json(bytes, media, original, sent)   every field of every layer
//   blob_slice(bytes, offset, length)          a part, cut at the end of the bytes
//
// media: PacketMedia of decode/packet.h; original: length on the wire, 0 when not recorded.
#ifndef STORE_FN_PACKET_H
#define STORE_FN_PACKET_H

#include "base/status.h"

#include <duckdb.h>

Status packet_functions_register(duckdb_connection connection, Err *err);

#endif
