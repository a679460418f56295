import type { Sql } from 'postgres'
import { conclude } from '#infra/operations/audit-log/perform'
import { findProposal, type Proposal } from '#infra/operations/audit-log/proposals'
import { changing, reading, type Verb } from '#infra/operations/cli/command'
import { openOperator } from '#infra/operations/cli/operator'
import { operatorSigner } from '#infra/operations/cli/signer'
import { oneLine } from '#infra/operations/text'
import { givesText } from '#shared/operators/may-perform'
import { orderedJson } from '#shared/operators/signed-text'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const faultIn = ([id = '']: readonly string[]) => (uuid.test(id) ? undefined : `${id} is not the id of a command`)

async function openProposal(sql: Sql, id: string): Promise<Proposal> {
  const proposal = await findProposal(sql, id)
  if (!proposal) throw new Error(`no command ${id} was proposed`)
  if (!proposal.isOpen)
    throw new Error(`${id} no longer waits for an approval: see bun run ops commands ${proposal.target}`)
  return proposal
}

export const shown = ({ verb, target, line, by, reason, terms, proposedAt, until, request }: Proposal): string =>
  [
    [verb, ...line.words].join(' '),
    `  ${proposedAt.toISOString()}  proposed by ${by}: ${reason}`,
    `  it ${givesText(terms)}`,
    ...Object.entries(request)
      .filter(([name]) => !['command', 'by', 'reason'].includes(name))
      .map(([name, value]) => `  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ...(terms.seen === '' ? [] : [`  state that was shown: ${terms.seen}`]),
    `  counts until ${until.toISOString()}; look first: bun run ops trace ${target}`,
  ]
    .map(oneLine)
    .join('\n')

/** Returns a short hash of what was proposed. A command may be proposed again, with another sum, after somebody looked at it. */
export const codeOf = ({ request, terms, signature }: Pick<Proposal, 'request' | 'terms' | 'signature'>): string =>
  new Bun.CryptoHasher('sha256').update(orderedJson({ request, terms, signature })).digest('hex').slice(0, 12)

/** Returns why the operator who gives this code has not seen what is proposed now. */
export function unseenFault(proposal: Proposal, code: string | undefined): string | undefined {
  const { command } = proposal
  if (code === undefined) return `look at it first: bun run ops approve ${command} prints the code that --apply needs`
  // guard: a second operator approves what was shown
  return code === codeOf(proposal)
    ? undefined
    : `${command} was proposed again since ${code} was shown: look at it again`
}

async function withProposal(id: string): Promise<Proposal> {
  await using operator = openOperator()
  return await openProposal(operator.sql, id)
}

/** Returns the verb of a command, such as `review resolve`. */
function verbNamed(verbs: ReadonlyMap<string, Verb>, name: string): Verb | undefined {
  const [first = '', ...rest] = name.split(' ')
  return rest.reduce<Verb | undefined>((verb, word) => verb?.among?.[word], verbs.get(first))
}

const preview = reading({
  does: 'show a proposed command; with --apply and the code that this prints, sign and send it as the second operator',
  usage: 'approve <command> [<code> --apply]',
  takes: 1,
  faultIn,
  read: async ({ words: [id = ''] }, { sql }) => {
    const proposal = await openProposal(sql, id)
    const { request, terms, until, by } = proposal
    const code = codeOf(proposal)
    const text = `${shown(proposal)}\nnothing was changed: to approve exactly this, run bun run ops approve ${id} ${code} --apply`
    return { text, data: { proposal: { command: id, by, request, terms, until, code } }, ok: false }
  },
})

/** Command of the second operator. It runs the proposed command of `verbs` again, with both signatures. */
export const approveAmong = (verbs: () => ReadonlyMap<string, Verb>): Verb => ({
  does: preview.does,
  run: async (words, say) => {
    if (!words.includes('--apply')) return preview.run(words, say)
    const rest = words.filter((word) => word !== '--apply')
    const [, code] = rest
    const fault = rest.length === 1 || rest.length === 2 ? faultIn(rest) : 'expected 2 arguments'
    if (fault) return preview.run(['--help'], (help) => say(`${help}\nerror: ${fault}`)).then(() => 2)
    const proposal = await withProposal(rest[0]!)
    const verb = verbNamed(verbs(), proposal.verb)
    if (!verb?.approve) throw new Error(`this version has no command ${proposal.verb}`)
    if (operatorSigner()?.name === proposal.by)
      throw new Error(`${proposal.by} proposed it: another operator must approve it`)
    const unseen = unseenFault(proposal, code)
    if (unseen) throw new Error(unseen)
    say(shown(proposal))
    return verb.approve(proposal, say)
  },
})

/** Beginning of the outcome of a withdrawn command. */
export const withdrawnBy = 'withdrawn by '

/** Command that closes a proposal, of any operator. */
export const withdraw = changing({
  does: 'close a proposed command without performing it',
  usage: 'withdraw <command> --reason <why> [--by <who>]',
  takes: 1,
  faultIn,
  change: async ({ words: [id = ''], reason, by }, { sql }) => {
    const { verb, target } = await openProposal(sql, id)
    await conclude(sql, id, { refused: `${withdrawnBy}${by}: ${reason}` }, { by, reason })
    return [{ id, done: `${verb} ${target} is withdrawn` }]
  },
})
