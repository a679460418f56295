import type { TimelineEntry, Trace, TracedItem } from '#infra/operations/timeline/entry'

export function traceText({ id, items, entries, unseen }: Trace): string {
  return [
    ...items.flatMap(itemLines),
    ...(items.length === 0 && unseen.length === 0 ? [unknownText(id, entries.length > 0)] : []),
    '',
    ...entries.map((entry, at) => entryLine(entry, entries[at - 1])),
    ...(unseen.length > 0 ? ['', 'not read:'] : []),
    ...unseen.map(({ what, why }) => `  ${what}: ${why}`),
  ]
    .join('\n')
    .trim()
}

/** Returns the heading for an unknown id. Events can exist without an item of ours. */
const unknownText = (id: string, isSeen: boolean) =>
  isSeen
    ? `no item has the id ${id}; related events:`
    : `nothing found for ${id}; \`find\` searches by amount, time, receipt or bank account`

function itemLines({ kind, id, wallet, state, reason, facts }: TracedItem): string[] {
  const head = `${kind} ${id}  ${state}${reason ? ` (${reason})` : ''}`
  const named = Object.entries({ ...(wallet === id ? {} : { wallet }), ...facts })
  return [head, ...named.map(([name, value]) => `  ${name.padEnd(12)} ${value}`)]
}

function entryLine({ at, where, what, id, says, isOdd }: TimelineEntry, before: TimelineEntry | undefined) {
  const stamp = at?.toISOString()
  const isSameDay = stamp?.slice(0, 10) === before?.at?.toISOString().slice(0, 10)
  const day = stamp && !isSameDay ? `${stamp.slice(0, 10)}\n` : ''
  const time = stamp ? stamp.slice(11, 23) : ''.padEnd(12)
  const source = `${where} ${what}`.padEnd(24)
  return `${day}${isOdd ? '!' : ' '} ${time}  ${source} ${says}  [${id}]`
}
