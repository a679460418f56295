import type { Entry, Item, Trace } from '#shared/trace/entry'

/** A trace on one screen: what it is, what happened in order, and what could not be seen. */
export function traceText({ id, items, entries, unseen }: Trace): string {
  return [
    ...items.flatMap(itemLines),
    ...(items.length === 0 && unseen.length === 0 ? [unknownText(id, entries.length > 0)] : []),
    '',
    ...entries.map((entry, at) => entryLine(entry, entries[at - 1])),
    ...(unseen.length > 0 ? ['', 'not seen:'] : []),
    ...unseen.map(({ what, why }) => `  ${what}: ${why}`),
  ]
    .join('\n')
    .trim()
}

/** What moved without a row of ours is no item, and is known all the same. */
const unknownText = (id: string, isSeen: boolean) =>
  isSeen
    ? `no item of ours is known by ${id}; what was seen of it:`
    : `nothing here is known by ${id}`

function itemLines({ kind, id, wallet, state, reason, facts }: Item): string[] {
  const head = `${kind} ${id}  ${state}${reason ? ` (${reason})` : ''}`
  const named = Object.entries({ ...(wallet === id ? {} : { wallet }), ...facts })
  return [head, ...named.map(([name, value]) => `  ${name.padEnd(12)} ${value}`)]
}

/** The day stands where it changes, and what needs a look is marked. */
function entryLine({ at, where, what, id, says, isOdd }: Entry, before: Entry | undefined) {
  const stamp = at?.toISOString()
  const isSameDay = stamp?.slice(0, 10) === before?.at?.toISOString().slice(0, 10)
  const day = stamp && !isSameDay ? `${stamp.slice(0, 10)}\n` : ''
  const time = stamp ? stamp.slice(11, 23) : ''.padEnd(12)
  const source = `${where} ${what}`.padEnd(24)
  return `${day}${isOdd ? '!' : ' '} ${time}  ${source} ${says}  [${id}]`
}
