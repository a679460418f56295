import type { Sql } from 'postgres'
import type { OperatorSignature, Terms } from '#shared/messages/operator-commands'
import { givesText } from '#shared/operators/may-perform'

/** Arguments and options of a command line, without reason and name. */
export type ProposedLine = {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean>>
}

/** Command that one operator signed and another has to approve. */
export type Proposal = {
  /** Id of the command. */
  readonly command: string
  readonly verb: string
  readonly target: string
  readonly reason: string
  readonly by: string
  readonly subject: string
  /** Request as it was signed, without the approval. */
  readonly request: object
  readonly terms: Terms
  readonly line: ProposedLine
  readonly signature: OperatorSignature
  readonly proposedAt: Date
  readonly until: Date
  /** True while it can be approved: it is neither done nor refused, nor has it ended. */
  readonly isOpen: boolean
}

/** Statement of the latest proposal of each command. */
export const latestProposals = (sql: Sql) => sql`
  select distinct on (p.command_id) p.command_id as command, d.verb, d.target, p.request->>'reason' as reason, p.signed_by as by,
    p.subject, p.request, p.terms, p.line, jsonb_build_object('by', p.signed_by, 'signature', p.signature) as signature,
    p.proposed_at as "proposedAt", p.until,
    p.until > now() and not exists (
      select from ops.outcomes o where o.command_id = p.command_id
        and (o.outcome = 'done' or o.outcome = 'refused' and o.recorded_at > p.proposed_at)
    ) as "isOpen"
  from ops.proposals p join ops.commands d on d.id = p.command_id
  order by p.command_id, p.id desc`

/** Returns the proposals that wait for a second operator, oldest first. */
export const listProposals = (sql: Sql): Promise<Proposal[]> => sql<Proposal[]>`
  select * from (${latestProposals(sql)}) p where "isOpen" order by "proposedAt"`

/** Returns the latest proposal of a command. */
export async function findProposal(sql: Sql, command: string): Promise<Proposal | undefined> {
  const [found] = await sql<Proposal[]>`select * from (${latestProposals(sql)}) p where command::text = ${command}`
  return found
}

type NewProposal = Pick<Proposal, 'command' | 'subject' | 'request' | 'terms' | 'line' | 'signature'>

/** Records a proposal. Rows never change: an outcome or its end closes it. */
export async function propose(
  sql: Sql,
  { command, subject, request, terms, line, signature }: NewProposal,
): Promise<void> {
  await sql`
    insert into ops.proposals (command_id, subject, request, terms, line, signed_by, signature, until)
    values (${command}, ${subject}, ${sql.json(request as never)}, ${sql.json(terms as never)}, ${sql.json(line as never)},
      ${signature.by}, ${signature.signature}, ${terms.until})`
}

/** Returns what waits, and what the second operator has to run. */
export const waitsText = (
  { by, command, terms, until }: Pick<Proposal, 'by' | 'command' | 'terms' | 'until'>,
  ops = 'bun run ops',
): string =>
  `proposed by ${by}, because it ${givesText(terms)}: another operator runs \`${ops} approve ${command}\` before ${until.toISOString()}`
