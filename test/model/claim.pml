/*
 * One push, three readers with an Idempotency-Key each, and two processes on one database, in Promela: SPIN tries every
 * order of their steps, with any number of requests and responses lost, of repeats, and of processes killed and started
 * again. `test/model.slow.test.ts` runs it as it is, and with each of the faults whose names begin with PLANTED.
 */
#ifndef VIEWS
#define VIEWS 2 /* pushes.expire_after_views */
#endif
#define READERS 3
#define NOBODY 255
#define GONE (VIEWS + 1) /* A response without a payload; others are the number of their view, from 1. */

/* The database, as far as it is committed. */
byte views;         /* pushes.views */
bool expired;       /* pushes.expired_at */
bool secret = true; /* The row in `secrets`, without which nobody can open the payload. */
byte kept[READERS]; /* The view whose data key is in the log for a reader's key; 0 for none. */
bool text = true;   /* The payload, sealed: in `secrets`, after the last view in `spent`, for those who are `kept`. */
byte lock = NOBODY; /* Who writes: BEGIN IMMEDIATE (sqlite-database.ts), or the lock of the push's row (push-rows.ts). */

/* Time, which passes at any moment. */
bool due;           /* pushes.expires_at is over, and with it each kept.until. */
bool late[READERS]; /* Two minutes are over, and with them the kept.until of a reader. */
#define OVER(reader) (late[reader] || due)

/* What only the properties need, by the number of a view. */
byte taken[VIEWS + 1] = NOBODY; /* By the key of which reader, as far as it is committed. */
byte shown[VIEWS + 1] = NOBODY; /* To which reader: on standard output, or rescued where that fails (rescue-store.ts). */
bool deleted;                   /* Expired by hand. */
#ifdef CALMS
/* From some moment on nothing is lost or killed: then each reader gets a response. */
bool calm, answered[READERS];
ltl all_answered { [] (calm -> <> (answered[0] && answered[1] && answered[2])) }
#define ANSWERED answered[by] = true
#define WAITS(one) !answered[one]
#else
#define calm false
#define ANSWERED skip
#define WAITS(one) false
#endif

/* Gone only if taken, expired or rescued: a counted view was shown, or is kept for its reader until that is over. */
inline nothing_is_lost() {
  view = 1;
  do
  :: view <= views ->
    assert(taken[view] != NOBODY);
    assert(shown[view] == taken[view] || (kept[taken[view]] == view && text) || OVER(taken[view]) || deleted);
    view++
  :: else -> break
  od;
  view = 0;
  assert(secret || views == VIEWS || due || deleted);
  assert(text || !secret);
  assert(!text || secret || kept[0] || kept[1] || kept[2])
}

/* What nobody can open any more goes with the last row that opens it (`forgetSpent`). */
#ifdef PLANTED_TEXT_EARLY
#define OPENED_BY_NOBODY true
#else
#define OPENED_BY_NOBODY !(kept[0] || kept[1] || kept[2])
#endif
#define DROP_TEXT if :: !secret && OPENED_BY_NOBODY -> text = false :: else fi

/* A repeat gets the same response, while its time is not over. */
inline same_again() {
  view = 1;
  do
  :: view <= VIEWS -> assert(taken[view] != by || answer == view || OVER(by) || deleted); view++
  :: else -> break
  od;
  view = 0
}

/*
 * The transaction of `Records.open` until its COMMIT: takes a view (`takeView`) and keeps the response (`Once`), unless
 * one is kept. Then it is rolled back, and the kept response read afterwards.
 */
inline claim() {
#ifdef PLANTED_EXPIRED_FIRST
  repeats = kept[by] && !OVER(by) && !before;
#else
  repeats = kept[by] && !OVER(by);
#endif
  takes = !repeats && !before && !expired && !due && views < VIEWS;
  answer = (takes -> views + 1 : GONE)
}

/* The COMMIT: the view, the kept data key, and with the last view the end of the secret (`takeSecret`, `keepSpent`). */
inline commit() {
  if
  :: takes ->
    views = answer;
    taken[answer] = by;
#ifndef PLANTED_NOT_KEPT
    kept[by] = answer;
#endif
    if :: views == VIEWS -> expired = true; secret = false; DROP_TEXT :: else fi
  :: else
  fi;
  lock = NOBODY;
  nothing_is_lost()
}

/* `Once.run` finds what is kept and reads the text again, or begins anew if that is over or destroyed since. */
inline find_kept() {
  if
  :: repeats -> answer = (OVER(by) || !text -> 0 : kept[by]); before = expired
  :: else
  fi;
  same_again()
}
#ifdef PLANTED_NOT_ANEW
#define BEGIN_ANEW
#else
#define BEGIN_ANEW if :: answer == 0 -> goto anew :: else fi
#endif

/* The response leaves, and arrives unless it is lost. Never two readers on one view. */
inline respond() {
  assert(answer != 0);
  if
  :: answer != GONE ->
    assert(shown[answer] == NOBODY || shown[answer] == by);
    shown[answer] = by;
    ANSWERED
  :: answer == GONE -> ANSWERED
  :: !calm
  fi
}

/*
 * A request arrives. Each reader repeats its own at any moment: as the connection broke, as it takes too long while the
 * first is still at work, or as a page is loaded again. One that is lost or late is one that has not arrived yet.
 * `Records.find` reads the row before the transaction.
 */
#define FROM(one) :: atomic { !calm || WAITS(one) -> by = one; before = expired }

/* What a killed process had in memory is gone, and the database undoes its transaction. */
#define KILLED :: !calm

/* A process of `serve`, which answers one retrieval after the other. */
proctype service(byte me) {
  byte by, answer, view;
  bool before, takes, repeats;
  do
  :: if FROM(0) FROM(1) FROM(2) fi;
anew:
    if
#ifdef PLANTED_CLAIM_IN_TWO
    :: atomic { claim() }; atomic { lock == NOBODY -> lock = me }
#else
    :: atomic { lock == NOBODY -> lock = me; claim() }
#endif
    KILLED -> goto killed
    fi;
#ifdef PLANTED_ANSWER_FIRST
    if :: atomic { respond() } KILLED -> goto killed fi;
    if :: atomic { commit() } KILLED -> goto killed fi;
#else
    if :: atomic { commit() } KILLED -> goto killed fi;
    if :: atomic { find_kept(); BEGIN_ANEW } KILLED -> goto killed fi;
    if :: atomic { respond() } KILLED -> goto killed fi;
#endif
killed:
    atomic {
#ifndef PLANTED_LOCK_STAYS
      if :: lock == me -> lock = NOBODY :: else fi;
#endif
      by = 0; before = false; answer = 0; takes = false; repeats = false
    }
  od
}

/* Two minutes pass, and the sweep deletes what was kept (`forgetOver`), and then the text (`dropSpent`). */
#define WINDOW(one) \
  :: kept[one] && !late[one] -> late[one] = true \
  :: atomic { lock == NOBODY && kept[one] && SWEPT(one) -> kept[one] = 0; DROP_TEXT; nothing_is_lost() }
#ifdef PLANTED_SWEPT_EARLY
#define SWEPT(one) true
#else
#define SWEPT(one) OVER(one)
#endif

/* Ends the push as `endPush` does, with what is kept of it. */
#define END expired = true; secret = false; kept[0] = 0; kept[1] = 0; kept[2] = 0; text = false; nothing_is_lost()

/* Time, and what else ends a push, each in a transaction of its own: the sweep, and `Pushes.expire`. */
proctype others() {
  byte view;
end:
  do
  WINDOW(0) WINDOW(1) WINDOW(2)
  :: !due -> due = true
  :: atomic { lock == NOBODY && due && !expired -> END }
  :: atomic { lock == NOBODY && !deleted -> deleted = true; END }
#ifdef CALMS
  :: !calm -> calm = true
#endif
  od
}

init {
  atomic { run service(0); run service(1); run others() }
}
