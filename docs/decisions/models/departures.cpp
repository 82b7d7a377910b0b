// Departures from the protocol, tried: what a release looks for, a stop that writes nothing for waiting runs, a wait that
// leaves an earlier token pending. Rules: P4, P35 to P38, P42, P46. One bool a rule.
#include "mc.hpp"

namespace {

enum row { RUN, W, EDGE, WAKE, OUT, OUT2, REG2, BOX, OWNER, ROWS };  // RUN: epoch * 8 + status; OUT, OUT2, REG2: entries
enum status { HELD_A, HELD_B, SUSPENDED, STILL, QUEUED, ENDED };     // SUSPENDED: it waits; STILL: held or paused
enum fate { PENDING, ANSWER, TIMEOUT, WITHDRAWN };
enum box { EMPTY, TO_A, TO_B, TAKEN, REFUSED };                      // TO_A: in the mailbox since A was the holder

struct shared {
    struct State { mc::Db<ROWS> db; std::uint8_t pc[6], seen[3], epoch[2], told, releases, gone, twice, crashed, overtaken; };
    bool sqlite = false;

    bool client(State& s, mc::Ctx& c)  // completes W, or never comes
    {
        constexpr int t = 2;
        auto& db = s.db;
        switch (s.pc[t]) {
        case 0:
            if (c.choose(2)) { s.pc[t] = 9; c.say("no client comes"); return true; }
            if (!db.begin(t, c) || !db.lock(t, W, c)) return false;
            if (db.get(t, W) != PENDING) { s.told = WITHDRAWN; c.say("the client is refused"); return back(s, t, 9); }
            db.put(t, W, ANSWER);
            c.say("the client updates W: completed");
            break;
        case 1: s.seen[t] = std::uint8_t(db.get(t, EDGE)); c.say("the client reads the edges: %s", s.seen[t] ? "one" : "none"); break;
        case 2:
            if (!s.seen[t]) break;
            if (!db.lock(t, WAKE, c)) return false;
            if (db.get(t, WAKE)) s.twice = 1;
            db.put(t, WAKE, 1);
            c.say("the client inserts the wake row");
            break;
        case 3: db.end(t, true); s.told = ANSWER; c.say("the client commits and is told: accepted"); break;
        default: return false;
        }
        ++s.pc[t];
        return true;
    }
    static bool delete_wake(State& s, int t, mc::Ctx& c)  // as far as this statement sees one
    {
        if (!s.db.get(t, WAKE)) return true;
        if (!s.db.lock(t, WAKE, c)) return false;
        s.db.put(t, WAKE, 0);
        c.say("the wake row is deleted");
        return true;
    }
    static bool back(State& s, int t, int pc) { s.db.end(t, false); s.pc[t] = std::uint8_t(pc); return true; }
};

// (a) and (b): a run that waits for W is given back, or its owner stops.
struct handing_on : shared {
    bool releases = false, stops = false;   // what happens
    bool resumes = true;                    // a person resumes what stands still
    // rules of (a)
    bool mail_always = true;                // every release looks for mail; false: only a suspension
    bool suspension_looks = true;           // a suspension looks for wake rows
    bool suspension_keeps = true;           // and deletes none
    bool hold_keeps = true;                 // nor does a hold, a pause, a requeue
    bool load_by_edges = true;              // who claims finds what is decided by its edges; false: by wake rows
    bool queueing_deletes = true;           // who queues a run deletes its wake rows
    bool takes_first = true;                // who loaded a decided wait takes it before it suspends the run
    bool looks_at_fates = false;            // P36: a suspension looks at the waitpoints it has edges to
    // rules of (b)
    bool takeover_reads_mail = true;        // false: only what is written to the new holder
    bool fence = true;
    bool claim_locks_owner = true;          // FOR SHARE, after the run rows

    static constexpr int procs = 6;         // A, B, client, requester, who queues, good-bye
    void init(State& s)
    {
        s.db.serial = sqlite;
        s.db.row[RUN].val = stops ? QUEUED : 8 + HELD_A;
        s.db.row[EDGE].val = s.db.row[OWNER].val = 1;
        s.epoch[0] = 1;
        s.pc[0] = stops ? 0 : 4;
    }
    static bool mail(State const& s, int t) { return s.db.get(t, BOX) == TO_A || s.db.get(t, BOX) == TO_B; }
    static bool decided(State const& s, int t) { return s.db.get(t, EDGE) && s.db.get(t, W) != PENDING; }

    bool worker(State& s, int t, mc::Ctx& c)
    {
        auto& db = s.db;
        auto& pc = s.pc[t];
        auto& seen = s.seen[t];
        int const who = 'A' + t, run = db.get(t, RUN), st = run % 8;
        bool mine = run / 8 == s.epoch[t] && st == HELD_A + t;
        bool claimable = st == QUEUED || (t == 1 && st == HELD_A && s.gone && db.row[OWNER].val);
        bool knows_mail = db.get(t, BOX) == TO_A + t || ((seen & 2) && mail(s, t));
        bool knows_answer = (seen & 1) || (db.get(t, WAKE) && decided(s, t));
        switch (pc) {
        case 0:  // no frame
            if (!claimable || (t == 0 && s.gone) || (t == 1 && !stops)) return false;
            if (!db.begin(t, c) || !db.lock(t, RUN, c)) return false;
            c.say("%c locks the run row to claim it", who);
            break;
        case 1:
            if (t == 0 && claim_locks_owner && !db.lock_share(t, OWNER, c)) return false;
            if (!claimable) { c.say("%c came too late", who); return back(s, t, 0); }
            s.epoch[t] = std::uint8_t(run / 8 + 1);
            db.put(t, RUN, s.epoch[t] * 8 + HELD_A + t);
            c.say("%c %s, epoch %d; COMMIT is sent", who, st == QUEUED ? "claims" : "takes over", s.epoch[t]);
            break;
        case 2: db.end(t, true); c.say("%c's claim is committed", who); break;
        case 3:
            seen = std::uint8_t((load_by_edges && decided(s, t)) + 2 * (takeover_reads_mail && mail(s, t)));
            c.say("%c loads the run: %s, %s", who, seen & 1 ? "W is decided" : "it waits", seen & 2 ? "mail" : "no mail");
            break;
        case 4:  // the frame is in memory
            if (releases && s.releases < 2 && c.choose(2)) {
                int kind = c.choose(3);
                if ((kind == 0 && takes_first && (seen & 1)) || !db.begin(t, c) || !db.lock(t, RUN, c)) return false;
                ++s.releases;
                pc = std::uint8_t(10 + kind);
                char const* const to[] = {"suspend", "hold or pause", "requeue"};
                c.say("%c wants to %s the run: run row locked", who, to[kind]);
                return true;
            }
            if ((!knows_mail && !knows_answer) || !db.begin(t, c) || !db.lock(t, RUN, c)) return false;
            c.say("%c opens a group for %s", who, knows_answer ? "the answer" : "the request");
            break;
        case 5:
            if (fence && !mine) { c.say("%c is fenced", who); return back(s, t, 9); }
            if (knows_answer && !delete_wake(s, t, c)) return false;
            if (knows_mail) { db.put(t, BOX, TAKEN); c.say("%c makes the request an entry", who); }
            if (knows_answer) {
                if (db.get(t, OUT)) s.twice = 1;
                db.put(t, OUT, ANSWER);
                db.put(t, EDGE, 0);
                if (mail(s, t)) db.put(t, BOX, REFUSED);
                db.put(t, RUN, (run / 8 + 1) * 8 + ENDED);
                c.say("%c appends the answer, ends the run, answers the mailbox", who);
            }
            break;
        case 6: db.end(t, true); pc = db.row[RUN].val % 8 == ENDED ? 9 : 4; seen = 0; c.say("%c commits", who); return true;
        case 10: case 11: case 12: {
            bool parks = pc == 10;
            if (!mine) { c.say("%c is fenced", who); return back(s, t, 9); }
            bool work = parks && ((suspension_looks && db.get(t, WAKE)) || (looks_at_fates && decided(s, t)));
            bool letters = mail(s, t) && (parks || mail_always);
            if (work || letters) { c.say("superseded: %c finds %s", who, letters ? "mail" : "a decided wait"); return back(s, t, 4); }
            if (!(parks ? suspension_keeps : hold_keeps) && !delete_wake(s, t, c)) return false;
            db.put(t, RUN, (run / 8 + 1) * 8 + (parks ? SUSPENDED : pc == 11 ? STILL : QUEUED));
            pc = 13;
            c.say("%c writes the release", who);
            return true;
        }
        case 13: db.end(t, true); pc = 0; seen = 0; c.say("%c commits, frame gone", who); return true;
        default: return false;
        }
        ++pc;
        return true;
    }

    bool asks(State& s, int t, mc::Ctx& c)  // 3: a requester; 4: a scanner, or a person who resumes
    {
        auto& db = s.db;
        int const run = db.get(t, RUN), st = run % 8;
        bool wanted = t == 3 || (st == SUSPENDED && db.get(t, WAKE)) || (st == STILL && resumes);
        switch (s.pc[t]) {
        case 0:
            if (t == 3 && c.choose(2)) { s.pc[t] = 9; c.say("no request comes"); return true; }
            if (!wanted || !db.begin(t, c) || !db.lock(t, RUN, c)) return false;
            c.say("%s locks the run row", t == 3 ? "the requester" : st == STILL ? "a person" : "the scanner");
            break;
        case 1:
            if (!wanted || st == ENDED) { c.say("it does nothing"); break; }
            if (t == 3 && st <= HELD_B) { db.put(t, BOX, TO_A + st); c.say("it writes: left to the holder, %c", 'A' + st); break; }
            if (queueing_deletes && !delete_wake(s, t, c)) return false;
            if (t == 3) db.put(t, BOX, TAKEN);
            db.put(t, RUN, (run / 8 + 1) * 8 + QUEUED);
            c.say("it queues the run");
            break;
        case 2: db.end(t, true); s.pc[t] = t == 3 ? 9 : 0; c.say("it commits"); return true;
        default: return false;
        }
        ++s.pc[t];
        return true;
    }

    bool good_bye(State& s, mc::Ctx& c)  // at any moment; a COMMIT that A had sent may still land, and a late group come
    {
        constexpr int t = 5;
        auto& db = s.db;
        int const a = s.pc[0];
        switch (s.pc[t]) {
        case 0:
            if (!stops) return false;
            s.gone = 1;
            c.say("A stops, or dies");
            if (a == 1 || a == 5 || ((a == 2 || a == 6) && c.choose(2))) { back(s, 0, 9); c.say("its transaction is aborted"); }
            break;
        case 1:
            if (!db.begin(t, c) || !db.lock(t, OWNER, c)) return false;
            c.say("good-bye: A's owner row is locked");
            break;
        case 2:
            if (db.get(t, RUN) % 8 != HELD_A) db.put(t, OWNER, 0);
            c.say("good-bye: %s", db.get(t, OWNER) ? "a run names A, its row stays" : "no run names A, its row goes");
            break;
        case 3: db.end(t, true); c.say("good-bye is committed"); break;
        default: return false;
        }
        ++s.pc[t];
        return true;
    }

    bool step(State& s, int p, mc::Ctx& c)
    {
        return p < 2 ? worker(s, p, c) : p == 2 ? client(s, c) : p < 5 ? asks(s, p, c) : good_bye(s, c);
    }
    char const* bad(State const& s) const
    {
        if (s.twice) return "an outcome is appended twice";
        bool nobodys = s.db.row[RUN].val % 8 == HELD_A && !s.db.row[OWNER].val;
        return nobodys ? "the run names an owner that has no row: nobody takes it over" : nullptr;
    }
    char const* last(State const& s) const
    {
        int const st = s.db.row[RUN].val % 8;
        if (mail(s, 6)) return "a request left to the holder is never taken, its writer never told";
        bool owed = s.db.row[W].val != PENDING && !s.db.row[OUT].val && (st != STILL || resumes);
        return owed ? "lost wake: W is decided, the run never learns it" : nullptr;
    }
};

// (c): a run waits for a token it made before, up to a time-out, and then once more, without one.
struct leaving : shared {
    bool together = false;           // the second wait stands already, in another branch
    bool judge_order = true, judge_orphans = true;  // false: what else comes of it
    // rules
    bool lock = true;                // leaving locks the waitpoint row, FOR SHARE
    bool looks = true;               // what is decided is not left: superseded, the answer is delivered instead
    bool stays_pending = true;       // leaving removes the edge; false: it withdraws the token
    bool registering_looks = true;   // the second wait finds what was completed while nobody waited
    bool edge_of_others = false;     // the edge stays while another wait of the run needs it

    static constexpr int procs = 4;  // engine, crash, client
    void init(State& s)
    {
        s.db.serial = sqlite;
        s.db.row[EDGE].val = 1;
        s.db.row[REG2].val = together;
    }
    bool engine(State& s, mc::Ctx& c)
    {
        constexpr int t = 0;
        auto& db = s.db;
        auto& pc = s.pc[t];
        switch (pc) {
        case 0:  // in a wait, the first or the second
            if (db.get(t, WAKE) || s.seen[t]) { pc = 8; c.say("the engine learns that W is decided"); return true; }
            if (db.get(t, OUT)) return false;
            c.say("the first wait's time-out has come");
            break;
        case 1: if (!db.begin(t, c) || !db.lock(t, RUN, c)) return false; break;
        case 2:
            if (!stays_pending ? !db.lock(t, W, c) : lock && !db.lock_share(t, W, c)) return false;
            c.say("the engine opens the group that leaves%s", lock ? ", W locked" : "");
            break;
        case 3:
            if (looks && db.get(t, W) != PENDING) { c.say("superseded: W is decided"); return back(s, t, 8); }
            c.say(looks ? "the engine looks: W is pending" : "the engine does not look");
            break;
        case 4:
            if (!delete_wake(s, t, c)) return false;
            db.put(t, EDGE, edge_of_others && db.get(t, REG2));
            if (!stays_pending) db.put(t, W, WITHDRAWN);
            db.put(t, OUT, TIMEOUT);
            c.say("the engine writes: timed out%s%s", stays_pending ? "" : ", W withdrawn", db.get(t, EDGE) ? "" : ", edge removed");
            break;
        case 5:
            if (s.told == ANSWER) s.overtaken = 1;
            db.end(t, true);
            pc = db.row[REG2].val ? 0 : 6;
            c.say("the engine commits");
            return true;
        case 6:
            if (!db.begin(t, c) || !db.lock(t, RUN, c) || !db.lock_share(t, W, c)) return false;
            db.put(t, EDGE, 1);
            db.put(t, REG2, 1);
            c.say("the engine registers the second wait: W locked, edge written");
            break;
        case 7:
            if (registering_looks && db.get(t, W) != PENDING) {
                if (!db.lock(t, WAKE, c)) return false;
                if (db.get(t, WAKE)) s.twice = 1;
                db.put(t, WAKE, 1);
            }
            c.say("the engine %s, commits", !registering_looks ? "does not look" : db.get(t, WAKE) ? "sees W decided" : "sees W pending");
            db.end(t, true);
            pc = 0;
            return true;
        case 8:
            if (!db.begin(t, c) || !db.lock(t, RUN, c) || !delete_wake(s, t, c)) return false;
            if (db.get(t, OUT) || together) db.put(t, OUT2, db.get(t, W));
            if (!db.get(t, OUT)) db.put(t, OUT, db.get(t, W));
            db.put(t, EDGE, 0);
            db.end(t, true);
            c.say("the engine delivers what W was decided to be; the run ends");
            break;
        default: return false;
        }
        ++pc;
        return true;
    }
    bool step(State& s, int p, mc::Ctx& c)
    {
        if (p == 0) return engine(s, c);
        if (p == 2) return client(s, c);
        if (p != 1 || s.crashed || s.pc[0] == 9) return false;
        s.crashed = 1;
        if (c.choose(2)) { c.say("nobody dies"); return true; }
        back(s, 0, s.db.row[OUT].val && !s.db.row[REG2].val ? 6 : 0);
        s.seen[0] = s.db.row[EDGE].val && s.db.row[W].val != PENDING;  // found when the run is loaded
        c.say("the engine dies, another takes the run over");
        return true;
    }
    char const* bad(State const& s) const
    {
        if (s.twice) return "the second wait inserts a wake row that is there: unique key broken, the run is quarantined";
        if (s.told == WITHDRAWN) return "the token is dead: the client is refused, the second wait ends without an answer";
        if (s.overtaken && judge_order) return "the client was told accepted while the edge stood, and then the wait times out";
        bool orphan = s.db.row[WAKE].val && !s.db.row[EDGE].val && judge_orphans;
        return orphan ? "a wake row without an edge: nobody takes it, no suspension passes it" : nullptr;
    }
    char const* last(State const& s) const
    {
        return s.told == ANSWER && s.pc[0] != 9 ? "lost wake: the token is completed, a wait sleeps for ever" : nullptr;
    }
};

}  // namespace

int main()
{
    // One check on PostgreSQL and one on SQLite, with the rules named turned the other way round.
    auto check = [](auto m, char const* name, bool fault, bool on_sqlite, auto... rule) {
        ((m.*rule = !(m.*rule)), ...);
        mc::both(name, m, fault, on_sqlite);
    };
    auto a = [&](auto... x) { handing_on m; m.releases = true; check(m, x...); };
    auto b = [&](auto... x) { handing_on m; m.stops = true; check(m, x...); };
    auto c = [&](auto... x) { check(leaving{}, x...); };
    using h = handing_on;
    using l = leaving;
    std::puts("--- as built, with one branch: PostgreSQL (READ COMMITTED), then SQLite");
    a("(a) releases", false, false);
    a("(a) releases, nobody resumes", false, false, &h::resumes);
    b("(b) the owner stops or dies while the run waits", false, false);
    b("(a) and (b) together", false, false, &h::releases);
    c("(c) leaving, completed later, a second wait", false, false);
    std::puts("--- rules removed or read another way");
    a("(a) a suspension before what was loaded as decided is taken", true, true, &h::takes_first);
    a("(a) the same, it looks at waitpoints, not at wake rows (P36)", false, false, &h::takes_first, &h::suspension_looks,
      &h::looks_at_fates);
    a("(a) a suspension that does not look, and keeps wake rows", false, false, &h::suspension_looks);
    a("(a) a suspension that does not look, and deletes them", true, true, &h::suspension_looks, &h::suspension_keeps);
    a("(a) a hold that deletes its wake rows", false, false, &h::hold_keeps);
    a("(a) who claims goes by wake rows, and queueing keeps them", false, false, &h::load_by_edges, &h::queueing_deletes);
    a("(a) the same, after a hold that deletes its wake rows", true, true, &h::load_by_edges, &h::queueing_deletes, &h::hold_keeps);
    a("(a) who claims goes by wake rows, and queueing deletes them", true, true, &h::load_by_edges);
    a("(a) a hold that does not look for mail", true, true, &h::mail_always, &h::resumes);
    b("(b) a take-over that does not look into the mailbox", true, true, &h::takeover_reads_mail);
    b("(b) no fence: a late group of the owner that stopped", true, true, &h::fence);
    b("(b) good-bye beside a claim that does not lock its owner's row", true, false, &h::claim_locks_owner);
    c("(c) leaving without a lock on the waitpoint row", true, false, &l::lock);
    c("(c) the same: what the client was told", true, false, &l::lock, &l::judge_orphans);
    c("(c) the same: what becomes of the second wait", true, false, &l::lock, &l::judge_orphans, &l::judge_order);
    c("(c) leaving what is decided already", true, true, &l::looks);
    c("(c) leaving by withdrawing the token", true, true, &l::stays_pending);
    c("(c) a second wait that does not look", true, true, &l::registering_looks);
    c("(c) two branches wait for the token, one edge for both: one leaves", true, true, &l::together);
    c("(c) the same, the edge stays for the other branch", false, false, &l::together, &l::edge_of_others);
    return mc::unexpected;
}
