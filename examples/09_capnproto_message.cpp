// A Cap'n Proto message is stored without an intermediate copy, and read where it lies.
#include <09_capnproto_message.capnp.h>

#include <cstdio>
#include <pmemcpy/capnp.hpp>  // above the first use of store()
#include <pmemcpy/pmemcpy.hpp>
#include <string>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);

    capnp::MallocMessageBuilder message;
    Day::Builder day = message.initRoot<Day>();
    day.setStation("Zugspitze");
    auto readings = day.initReadings(24);
    for (unsigned hour = 0; hour < readings.size(); ++hour) {
        readings[hour].setSecond(3600 * hour);
        readings[hour].setCelsius(-5.0f + static_cast<float>(hour) / 4);
    }
    pmem.store("2024/07/01", message, pmemcpy::SerializerType::capnproto);

    // The bytes are pinned in the pool while the object lives, and its readers point at them.
    pmemcpy::Pinned pinned = pmem.view_bytes("2024/07/01");
    pmemcpy::CapnpObject object(pinned, pinned.bytes());
    const Day::Reader found = object.root<Day>();
    const float noon = found.getReadings()[12].getCelsius();
    std::printf("%s: %u readings, %g degrees at noon\n", found.getStation().cStr(),
                found.getReadings().size(), noon);
    return noon == -2.0f ? 0 : 1;
}
