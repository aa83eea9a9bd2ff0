// One loop runs in the pool at a time. Its owner (the caller) describes it, opens the gate with as many seats as there
// are workers to spare, and takes ranges itself. A worker that finds a free seat joins, takes ranges until none are
// left, and leaves. When the owner finds no more ranges it closes the gate, so that workers that wake too late stay
// out, and waits only for those inside. Hence a short loop never waits for a sleeping thread.
#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <new>

#include "base/cpu_count.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"

namespace pteron {
namespace {

// A loop is cut into at most this many ranges a thread: enough to even out threads that run at different speeds, few
// enough that taking a range (one atomic addition) costs nothing beside it.
constexpr int64_t kRangesPerThread = 4;

// How long a thread looks for work, or for the last worker, before it sleeps. Waking a thread takes 5 to 50 us, and the
// operators of a model follow each other within that time.
constexpr int64_t kSpinNanoseconds = 50'000;

// The gate: free seats in the low half, workers inside in the high half.
constexpr uint32_t kSeatMask = 0xffff;
constexpr uint32_t kInsideOne = 0x10000;

// Written by the owner before it opens the gate; read by workers between joining and leaving.
struct Loop {
  RangeBody body = nullptr;
  void* arg = nullptr;
  int64_t count = 0;
  int64_t range = 0;
  int64_t ranges = 0;
};

// Constant-initialised and never destroyed: workers outlive static destructors. The words that different threads hammer
// have cache lines of their own.
struct Pool {
  Loop loop;
  alignas(64) std::atomic<int64_t> next_range{0};
  alignas(64) std::atomic<uint32_t> gate{0};
  std::atomic<uint32_t> owner_sleeps{0};
  alignas(64) std::atomic<uint32_t> generation{0};  // goes up with each loop; idle workers sleep on it
  std::atomic<uint32_t> sleepers{0};
  alignas(64) std::atomic<uint32_t> owned{0};
  std::atomic<int> failure{PTERON_OK};
  std::atomic<int> workers{0};  // started; only the owner starts more
  std::atomic<bool> spins{false};
  std::atomic<int> configured{0};
  std::atomic<int> default_threads{0};
};

constinit Pool pool;
constinit thread_local bool inside_loop = false;
constinit thread_local int thread_failure = PTERON_OK;

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word, int threads) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

int64_t now_nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Waits a short while for `done`; false when it did not come true.
template <typename Done>
bool spin_until(Done done) {
  if (!pool.spins.load(std::memory_order_relaxed)) return done();
  const int64_t end = now_nanoseconds() + kSpinNanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause_briefly();
    }
  } while (now_nanoseconds() < end);
  return false;
}

void call_body(RangeBody body, void* arg, int64_t begin, int64_t end) noexcept {
  try {
    body(arg, begin, end);
  } catch (const std::bad_alloc&) {
    thread_failure = PTERON_OUT_OF_MEMORY;
  } catch (...) {
    thread_failure = PTERON_INTERNAL;
  }
}

void run_inline(int64_t count, RangeBody body, void* arg) {
  if (count > 0) call_body(body, arg, 0, count);
}

// Takes ranges of the loop until none are left.
void take_ranges() {
  const Loop loop = pool.loop;
  inside_loop = true;
  for (;;) {
    const int64_t range = pool.next_range.fetch_add(1, std::memory_order_relaxed);
    if (range >= loop.ranges) break;
    const int64_t begin = range * loop.range;
    call_body(loop.body, loop.arg, begin, begin + std::min(loop.range, loop.count - begin));
  }
  inside_loop = false;
  if (thread_failure != PTERON_OK) pool.failure.store(thread_failure, std::memory_order_relaxed);
}

bool join_loop() {
  uint32_t gate = pool.gate.load(std::memory_order_relaxed);
  while ((gate & kSeatMask) != 0) {
    if (pool.gate.compare_exchange_weak(gate, gate - 1 + kInsideOne, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void leave_loop() {
  const uint32_t before = pool.gate.fetch_sub(kInsideOne, std::memory_order_seq_cst);
  if (before < 2 * kInsideOne && pool.owner_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(pool.gate, 1);
}

// `seen` was read before the worker found no seat, so a loop that came since has changed the generation.
void wait_for_loop(uint32_t seen) {
  if (spin_until([&] { return pool.generation.load(std::memory_order_relaxed) != seen; })) return;
  pool.sleepers.fetch_add(1, std::memory_order_seq_cst);
  futex_wait(pool.generation, seen);
  pool.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void* work(void*) {
  for (;;) {
    const uint32_t seen = pool.generation.load(std::memory_order_acquire);
    if (join_loop()) {
      take_ranges();
      thread_failure = PTERON_OK;  // the owner has it
      leave_loop();
    } else {
      wait_for_loop(seen);
    }
  }
  return nullptr;
}

// In a child process no worker is left, and a loop that another thread was running is nobody's.
void reset_after_fork() {
  pool.gate.store(0, std::memory_order_relaxed);
  pool.owner_sleeps.store(0, std::memory_order_relaxed);
  pool.sleepers.store(0, std::memory_order_relaxed);
  pool.workers.store(0, std::memory_order_relaxed);
  pool.owned.store(0, std::memory_order_relaxed);
}

// Spinning threads must not take the CPU from those that work.
int allowed_cpu_count() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void start_worker(int index) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, work, nullptr) != 0) return;
  pthread_setname_np(thread, "pteron");
  pthread_detach(thread);
  pool.workers.store(index, std::memory_order_relaxed);
}

// Starts what is missing of `wanted` workers; only the owner calls it. When the system gives no more threads the loop
// runs with those that are there. Returns how many there are.
int start_workers(int wanted) {
  const int started = pool.workers.load(std::memory_order_relaxed);
  if (started >= wanted) return started;
  static const int registered = pthread_atfork(nullptr, nullptr, reset_after_fork);
  if (registered != 0) return started;
  pool.spins.store(wanted < allowed_cpu_count(), std::memory_order_relaxed);
  // Signals are the application's: its handlers shall not run on a worker's stack.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int index = started + 1; index <= wanted; ++index) {
    start_worker(index);
    if (pool.workers.load(std::memory_order_relaxed) != index) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const int now = pool.workers.load(std::memory_order_relaxed);
  if (now < wanted) log(PTERON_LOG_WARNING, "threads", "the system gave only %d of %d threads", now + 1, wanted + 1);
  return now;
}

void open_gate(uint32_t seats) {
  pool.next_range.store(0, std::memory_order_relaxed);
  pool.gate.store(seats, std::memory_order_release);
  pool.generation.fetch_add(1, std::memory_order_seq_cst);
  if (pool.sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(pool.generation, static_cast<int>(seats));
}

void close_gate() {
  pool.gate.fetch_and(~kSeatMask, std::memory_order_seq_cst);
  const auto empty = [] { return pool.gate.load(std::memory_order_acquire) < kInsideOne; };
  if (spin_until(empty)) return;
  pool.owner_sleeps.store(1, std::memory_order_seq_cst);
  for (uint32_t gate = pool.gate.load(std::memory_order_seq_cst); gate >= kInsideOne;
       gate = pool.gate.load(std::memory_order_seq_cst)) {
    futex_wait(pool.gate, gate);
  }
  pool.owner_sleeps.store(0, std::memory_order_relaxed);
}

// The calling thread owns the pool.
void run_owned(int64_t count, int64_t grain, RangeBody body, void* arg, int threads) {
  const int64_t ranges_wanted = threads * kRangesPerThread;
  const int64_t range = std::max(grain, (count - 1) / ranges_wanted + 1);
  const int64_t ranges = (count - 1) / range + 1;
  const int64_t seats = std::min<int64_t>({ranges - 1, threads - 1, start_workers(threads - 1)});
  if (seats < 1) return run_inline(count, body, arg);
  pool.loop = {body, arg, count, range, ranges};
  open_gate(static_cast<uint32_t>(seats));
  take_ranges();
  close_gate();
  const int failure = pool.failure.load(std::memory_order_relaxed);
  if (failure != PTERON_OK) {
    thread_failure = failure;
    pool.failure.store(PTERON_OK, std::memory_order_relaxed);
  }
}

int count_cores() noexcept {
  try {
    return std::min(usable_cores(), kMaxThreads);
  } catch (...) {
    return 1;  // no memory to read what the system says: a poor moment for threads anyway
  }
}

int default_thread_count() {
  int threads = pool.default_threads.load(std::memory_order_relaxed);
  if (threads == 0) {
    threads = environment_number("PTERON_NUM_THREADS", 1, kMaxThreads, 0);
    if (threads == 0) threads = count_cores();
    pool.default_threads.store(threads, std::memory_order_relaxed);
  }
  return threads;
}

}  // namespace

void parallel_for(int64_t count, int64_t grain, RangeBody body, void* arg) {
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain || inside_loop) return run_inline(count, body, arg);
  const int threads = thread_count();
  if (threads == 1 || pool.owned.exchange(1, std::memory_order_acquire) != 0) return run_inline(count, body, arg);
  run_owned(count, grain, body, arg, threads);
  pool.owned.store(0, std::memory_order_release);
}

int take_loop_failure() {
  const int failure = thread_failure;
  if (failure != PTERON_OK) thread_failure = PTERON_OK;
  return failure;
}

int thread_count() {
  const int configured = pool.configured.load(std::memory_order_relaxed);
  return configured != 0 ? configured : default_thread_count();
}

Status set_thread_count(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    return error(PTERON_INVALID_ARGUMENT, "the number of threads is %d, expected 0 (default) to %d", threads,
                 kMaxThreads);
  }
  pool.configured.store(threads, std::memory_order_relaxed);
  return {};
}

}  // namespace pteron
