// A robot carries a box past eight way-points. Its power is cut twice; it never drives a way-point twice, and never drives off by itself.
//
//     robot_mission [--store sqlite:FILE|postgresql://…]
//
// The robot is a small simulation in two dimensions whose world is a file: where it stands, its battery, its gripper, the box. The mission is
// a workflow polled by the robot's control loop, in a process of its own on one thread. An operator answers from a third process.
//
// It prints what the operator is asked, and one line for each thing that it has checked:
//   - nothing moves before the operator has allowed it,
//   - SIGKILL half-way to point 5: the next process asks the robot where it is. Between two points: that is for a person, and nothing moves until
//     the operator has decided. Points 1 to 4 are not driven again,
//   - SIGKILL on the arrival at point 7, before that is in the journal: the robot stands there, so the drive is done, and nobody is asked,
//   - without power the gripper is limp; as a resource of the mission it comes back as it was before the robot moves, and the box arrives.
#include <flow/flow.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

struct point {
    double x = 0, y = 0;
};
double between(point a, point b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// The simulation. Its motors know where to only as long as there is power.
class robot {
public:
    /// Power comes on: it stands where it stands, and the gripper is limp.
    explicit robot(std::string folder, std::string dies = {}) : folder_(std::move(folder)), dies_(std::move(dies))
    {
        std::ifstream(folder_ + "world.txt") >> at.x >> at.y >> battery >> box.x >> box.y;
    }
    void log(std::string const& what) const { append_line(folder_ + "log.txt", what); }

    void drive(std::size_t number, point to, flow::token<point> const& ends_by)
    {
        log("sets off for " + std::to_string(number));
        number_ = number, to_ = to, ends_by_ = ends_by;
    }
    /// One turn of its control loop.
    void tick(flow::engine& e)
    {
        bool const has_box = squeezes && between(at, box) < 0.1;
        if (ends_by_) {
            double const left = between(at, to_), step = std::min(left, 1.5);
            at = left <= 1.5 ? to_ : point{at.x + (to_.x - at.x) / left * step, at.y + (to_.y - at.y) / left * step};
            if (has_box) box = at;
            if (battery -= step; battery <= 0) log("is empty");
        } else {
            battery = std::min(100.0, battery + 2);  // the sun shines
        }
        auto const file = folder_ + "world.txt";
        std::ofstream(file + ".new") << at.x << ' ' << at.y << ' ' << battery << ' ' << box.x << ' ' << box.y << '\n';
        std::filesystem::rename(file + ".new", file);
        if (!ends_by_) return;

        double const left = between(at, to_);
        if (left < 10 && dies_ == "half-way to " + std::to_string(number_)) std::raise(SIGKILL);
        if (left > 0) return;
        log("is at " + std::to_string(number_));
        if (dies_ == "at " + std::to_string(number_)) std::raise(SIGKILL);
        e.complete(*std::exchange(ends_by_, std::nullopt), at);
    }

    point at, box;
    double battery = 100;
    bool squeezes = false;  // as long as there is power

private:
    std::string folder_, dies_;
    std::size_t number_ = 0;
    point to_;
    std::optional<flow::token<point>> ends_by_;
};

robot* machine = nullptr;  // this process's, set before its engine runs anything

// [gripper]
/// The robot's hand, as long as the mission has it. It is let go while the mission waits, and taken again as it was.
class gripper {
public:
    struct snapshot_of {
        bool squeezes = false;
    };
    static std::unique_ptr<gripper> open() { return std::make_unique<gripper>(); }
    static std::unique_ptr<gripper> restore(snapshot_of as)
    {
        auto hand = open();
        hand->squeeze(as.squeezes);
        return hand;
    }
    snapshot_of snapshot() const { return {machine->squeezes}; }
    void squeeze(bool on) { machine->squeezes = on; }
};
// [/gripper]

// [mission]
flow::workflow<std::string> patrol(std::vector<point> points)
{
    auto const go = co_await flow::ask("go", flow::question("May the robot leave its dock?").about(points).to("operator")
                                                 .deadline(24h).otherwise(false));
    if (!go.approved) co_return "stays in its dock";

    auto hand = co_await flow::open_resource<gripper>("hand");
    for (std::size_t n = 1; n <= points.size(); ++n) {
        auto const battery = co_await flow::step("battery", flow::replayable, [] { return machine->battery; });
        if (battery < 50) co_await flow::poll_until("charged", [] { return machine->battery >= 100; }, {.every = 5ms});

        // Motion is never repeated without knowing. It ends in a later turn of the control loop, or after a power cut by what `settle` sees.
        co_await flow::begin_step<point>("drive", flow::non_replayable,
                                         [&](flow::token<point> const& ends_by) { machine->drive(n, points[n - 1], ends_by); });

        if (n != 3 && n != points.size()) continue;
        bool const takes = n == 3;
        co_await flow::step("grip", flow::idempotent, [&] { hand->squeeze(takes); });  // squeezing twice is squeezing
    }
    co_return "the box is delivered";
}
// [/mission]

// [settle]
/// After a power cut: a drive that this process has not begun is settled by where the robot is, else by a person.
void settle(flow::engine& e, flow::run_view const& view, std::vector<point> const& points)
{
    auto const driven = std::count_if(view.steps.begin(), view.steps.end(),
                                      [](auto const& s) { return s.name == "drive" && s.status == flow::step_status::completed; });
    for (auto const& open : view.open) {
        if (open.row.purpose != flow::waitpoint_purpose::token || open.row.name != "drive") continue;
        flow::token<point> const drive{open.row.id};
        if (between(machine->at, points.at(static_cast<std::size_t>(driven))) < 0.1) e.complete(drive, machine->at);
        else e.fail(drive, "the power was cut on the way, the robot stands between two points");
    }
}
// [/settle]

int control(std::string const& store, std::string const& folder, std::string const& dies, std::vector<point> const& points)
{
    robot body{folder, dies};
    machine = &body;
    // A mission that waits leaves memory at once: the next process need not wait until this one's lease has ended.
    flow::engine engine{flow::open_store(store), {.threads = 0, .evict_after = 0s, .name = "robot"}};
    engine.add<patrol>("patrol");
    auto const run = engine.find_by_key("patrol");
    settle(engine, run.view(), points);
    while (!is_terminal(run.status().run)) {
        engine.poll(2ms);
        body.tick(engine);
        std::this_thread::sleep_for(3ms);
    }
    return 0;
}

/// Answers all that is open: may it go, and what about a drive in doubt.
int answer(std::string const& store)
{
    flow::client me{flow::open_store(store, {.must_exist = true}), "operator"};
    for (auto const& q : me.questions_for("operator")) me.respond(q.row.id, true, {.why = "the yard is clear", .about = q.asks->about_hash});
    for (auto const& open : me.find_by_key("patrol").view().open)
        if (open.row.purpose == flow::waitpoint_purpose::intervention) me.decide(open.row.id, "retry", std::nullopt, "nothing in its way");
    return 0;
}

/// This program once more, as the robot or the operator.
::pid_t start(std::string const& who, std::string const& store, std::string const& folder, std::string const& dies = {})
{
    ::pid_t const child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive this program if a check fails
    ::execl("/proc/self/exe", "robot_mission", who.c_str(), store.c_str(), folder.c_str(), dies.c_str(), nullptr);
    ::_exit(127);
}
int end_of(::pid_t child)
{
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
/// Until the operator is asked for a decision of this kind.
void wait_for(flow::any_run_handle const& run, flow::waitpoint_purpose what)
{
    for (;; std::this_thread::sleep_for(5ms)) {
        auto const open = run.view().open;
        if (open.empty() || open.front().row.purpose != what) continue;
        auto const& asks = open.front().asks;
        std::printf("       the operator is asked: %s\n", (asks ? asks->text : open.front().question).c_str());
        return;
    }
}

int main(int argc, char** argv)
{
    std::vector<point> const points{{20, 0}, {40, 0}, {40, 20}, {40, 40}, {20, 40}, {0, 40}, {0, 20}, {0, 0}};
    if (argc == 5) return use_every_store(), std::string(argv[1]) == "robot" ? control(argv[2], argv[3], argv[4], points) : answer(argv[2]);

    scratch_folder const scratch;
    auto const folder = scratch.file(""), log = folder + "log.txt";
    auto const store = shared_store_text(argc, argv, "sqlite:" + folder + "flow.db");
    std::ofstream(folder + "world.txt") << "0 0 100 40 20\n";  // at its dock, charged; the box lies at point 3

    flow::client desk{flow::open_store(store), "desk"};
    flow::run_handle<std::string> const run{desk.start("patrol", flow::args(points), {.idempotency_key = "patrol"})};

    ::pid_t body = start("robot", store, folder, "half-way to 5");
    wait_for(run, flow::waitpoint_purpose::approval);
    expect(lines_with(log, "") == 0, "nothing has moved");
    expect(end_of(start("operator", store, folder)) == 0, "the operator lets it go");
    expect(end_of(body) == -SIGKILL && lines_with(log, "is at 4") == 1, "the power is cut half-way to point 5");

    body = start("robot", store, folder, "at 7");
    wait_for(run, flow::waitpoint_purpose::intervention);
    auto const stands = robot(folder).at;
    std::this_thread::sleep_for(200ms);
    expect(between(robot(folder).at, stands) == 0 && lines_with(log, "sets off for 5") == 1, "it does not drive off by itself");
    expect(end_of(start("operator", store, folder)) == 0, "the operator has looked, and lets it go on");
    expect(end_of(body) == -SIGKILL && lines_with(log, "is at 7") == 1, "the power is cut on the arrival at point 7");

    body = start("robot", store, folder);
    expect(run.result() == "the box is delivered" && end_of(body) == 0, "the mission is brought to its end");

    for (std::size_t n = 1; n <= points.size(); ++n) {
        auto const number = std::to_string(n);
        if (lines_with(log, "sets off for " + number) != (n == 5 ? 2 : 1)) expect(false, "a way-point was driven again");
        if (lines_with(log, "is at " + number) != 1) expect(false, "a way-point was missed, or reached twice");
    }
    expect(true, "each point was reached once; only the drive to 5 was begun again, by the operator's word");
    expect(between(robot(folder).box, points.back()) < 0.1, "the gripper held the box through both power cuts");
    auto const view = run.view();
    auto const charged = std::count_if(view.steps.begin(), view.steps.end(), [](auto const& s) { return s.name == "charged"; });
    expect(charged > 0 && lines_with(log, "is empty") == 0, "it stood still to charge, and the battery was never empty");
    for (auto const& h : view.happened)
        if (!h.why.empty()) std::printf("       %s, by %s: %s\n", h.text.c_str(), h.by.c_str(), h.why.c_str());
}
