/* Run a package that Trivium has compiled, from C++17: classes around trivium.h, in this header.
 *
 *     trivium::Package package("model.trv");
 *     trivium::Session session(package);
 *     std::vector<float> image(3 * 224 * 224), scores(1000);
 *     session.run({image}, {scores});
 *
 * What fails throws trivium::Error. */
#ifndef TRIVIUM_HPP
#define TRIVIUM_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "trivium.h"

namespace trivium {

/* Why a call failed: its status, and a line of text. */
class Error : public std::runtime_error {
  public:
    Error(trivium_status status, const std::string &text)
        : std::runtime_error(text), status(status) {}

    trivium_status status;
};

/* An input or an output, see trivium_port. */
struct Port {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::size_t size_bytes;
};

/* An array of the caller: a std::vector, a std::array, or a pointer and a number of bytes. */
template <class Pointer>
struct ArrayOf {
    ArrayOf(Pointer data, std::size_t size_bytes) : data(data), size_bytes(size_bytes) {}

    template <class Container, class = decltype(std::data(std::declval<Container &>()))>
    ArrayOf(Container &container)
        : data(std::data(container)),
          size_bytes(std::size(container) * sizeof(*std::data(container))) {}

    Pointer data;
    std::size_t size_bytes;
};

using Input = ArrayOf<const void *>;
using Output = ArrayOf<void *>;

/* A package; threads may share it. */
class Package {
  public:
    explicit Package(const std::string &path) {
        trivium_error error;
        trivium_package *opened;
        check(trivium_open(path.c_str(), &opened, &error), error);
        take(opened);
    }

    /* Open what is in memory, which must stay as it is while there is a session. */
    Package(const void *data, std::size_t size) {
        trivium_error error;
        trivium_package *opened;
        check(trivium_open_memory(data, size, &opened, &error), error);
        take(opened);
    }

    const std::vector<Port> &inputs() const { return inputs_; }
    const std::vector<Port> &outputs() const { return outputs_; }
    trivium_package *get() const { return package_.get(); }

    static void check(trivium_status status, const trivium_error &error) {
        if (status != TRIVIUM_OK)
            throw Error(status, error.text);
    }

  private:
    void take(trivium_package *opened) {
        package_.reset(opened, trivium_close);
        for (std::size_t i = 0; const trivium_port *each = trivium_input(opened, i); i++)
            inputs_.push_back(port(*each));
        for (std::size_t i = 0; const trivium_port *each = trivium_output(opened, i); i++)
            outputs_.push_back(port(*each));
    }

    static Port port(const trivium_port &each) {
        return {each.name, each.dtype, {each.shape, each.shape + each.rank}, each.size_bytes};
    }

    std::shared_ptr<trivium_package> package_;
    std::vector<Port> inputs_, outputs_;
};

/* A session, for one thread at a time; it may outlive its package. */
class Session {
  public:
    explicit Session(const Package &package, unsigned threads = 0) : package_(package) {
        trivium_error error;
        trivium_session *created;
        Package::check(trivium_session_create(package.get(), threads, &created, &error), error);
        session_.reset(created);
    }

    /* Compute all outputs from all inputs, in the order of the ports. */
    void run(std::initializer_list<Input> inputs, std::initializer_list<Output> outputs) {
        run(std::vector<Input>(inputs), std::vector<Output>(outputs));
    }

    void run(const std::vector<Input> &inputs, const std::vector<Output> &outputs) {
        std::vector<const void *> from = pointers<const void *>("input", package_.inputs(), inputs);
        std::vector<void *> to = pointers<void *>("output", package_.outputs(), outputs);
        trivium_error error;
        Package::check(trivium_session_run(session_.get(), from.data(), to.data(), &error), error);
    }

    /* Let state begin anew. */
    void reset() {
        trivium_error error;
        Package::check(trivium_session_reset(session_.get(), &error), error);
    }

  private:
    struct Free {
        void operator()(trivium_session *session) const { trivium_session_free(session); }
    };

    template <class Pointer, class Arrays>
    static std::vector<Pointer> pointers(const std::string &role, const std::vector<Port> &ports,
                                         const Arrays &arrays) {
        if (arrays.size() != ports.size())
            throw Error(TRIVIUM_ERROR_ARGUMENT,
                        "got " + std::to_string(arrays.size()) + " " + role + "s, must get " +
                            std::to_string(ports.size()));
        std::vector<Pointer> found;
        for (std::size_t i = 0; i < ports.size(); i++) {
            if (arrays[i].size_bytes != ports[i].size_bytes)
                throw Error(TRIVIUM_ERROR_ARGUMENT,
                            role + " '" + ports[i].name + "' has " +
                                std::to_string(arrays[i].size_bytes) + " bytes, must have " +
                                std::to_string(ports[i].size_bytes));
            found.push_back(arrays[i].data);
        }
        return found;
    }

    Package package_;
    std::unique_ptr<trivium_session, Free> session_;
};

} // namespace trivium

#endif
