// Decides whether the recorded calls on one animal are linearizable: whether each may have happened in one step between
// its begin and its end, in an order in which every answer is right. An unanswered call happened later, or never.
// The search is Lowe's just-in-time linearization: a call is put in its place only when a call that ends needs it.

// A state is `status/name/categoryId`; `to` is one, too, without what stays: `/Rex` is another name.

/** The state after the change `to`. */
export function changed(state, to) {
  const [before, given] = [state.split('/'), to.split('/')];
  const { length } = before.length > given.length ? before : given;
  return Array.from({ length }, (_, field) => given[field] || before[field]).join('/');
}

/** Whether the animal is as a change requires: in the status, or in the whole state, which has a slash. */
const meets = (state, from = state) => state === from || state.split('/')[0] === from;

/** What one call on an animal in `state` answers, and the state after it. `list` answers for one animal of a page. */
function perform(state, { kind, to, from }) {
  const exists = state !== 'absent' && state !== 'removed';
  if (kind === 'create') return state === 'absent' ? ['created', to] : ['replayed', state];
  if (kind === 'list') return [exists && meets(state, from) ? state : 'not-listed', state];
  if (!exists) return [404, state];
  if (kind === 'read') return [state, state];
  if (kind === 'remove') return [204, 'removed'];
  if (meets(state, from)) return [200, changed(state, to)];
  return [from.includes('/') ? 412 : 409, state];
}

/** Answers of calls that may change the animal. All other calls can take their place at the first right moment. */
const CHANGES = new Set([undefined, 'created', 200, 204]);

const ascending = (one, other) => one - other;

/**
 * Searches an order for the calls on one animal. A call has `kind`, `to`, `from`, `begin`, `end` and `answer`; one
 * without an answer has no `end`. Returns the call whose answer no order explains, if there is one, and the number of
 * states that the search visited.
 */
export function findOrder(calls) {
  const known = calls.filter(({ kind, answer }) => answer !== undefined || kind !== 'read');
  const numbers = new Map(known.map((call, number) => [call, number]));
  const events = known
    .flatMap((call) => [
      { at: call.begin, call, begins: true },
      { at: call.answer === undefined ? Infinity : call.end, call, begins: false },
    ])
    .filter(({ at }) => at < Infinity)
    .sort((one, other) => ascending(one.at, other.at));
  const open = new Set(); // calls that have begun; one that has ended stays in no state
  let states = new Map([['', { state: 'absent', done: new Set() }]]);
  let visited = 0;

  for (const { call: ending, begins } of events) {
    if (begins) {
      open.add(ending);
      continue;
    }
    const reached = new Map();
    const seen = new Set();
    const keyOf = (state, done) =>
      [state, ...[...done].map((call) => numbers.get(call)).sort(ascending)].join(' ');
    const visit = (state, before) => {
      const done = new Set(before);
      for (const call of open) {
        if (!CHANGES.has(call.answer) && perform(state, call)[0] === call.answer) done.add(call);
      }
      const key = keyOf(state, done);
      if (seen.has(key)) return;
      seen.add(key);
      if (done.delete(ending)) {
        reached.set(keyOf(state, done), { state, done });
        return;
      }
      const tried = new Set(); // of equal unanswered calls one is enough
      for (const call of open) {
        if (done.has(call) || !CHANGES.has(call.answer)) continue;
        const [answer, next] = perform(state, call);
        if (call.answer === undefined) {
          const alike = `${call.kind} ${call.to} ${call.from}`;
          if (next === state || tried.has(alike)) continue;
          tried.add(alike);
        } else if (call.answer !== answer) continue;
        visit(next, new Set(done).add(call));
      }
    };
    for (const { state, done } of states.values()) visit(state, done);
    visited += seen.size;
    open.delete(ending);
    if (reached.size === 0) return { impossible: ending, visited };
    states = reached;
  }
  return { impossible: undefined, visited };
}
