@0xb0a8c0f9d5d3a1e7;
# A weather station's day, for 09_capnproto_message.cpp.

struct Day {
  station @0 :Text;
  readings @1 :List(Reading);

  struct Reading {
    second @0 :UInt32;
    celsius @1 :Float32;
  }
}
