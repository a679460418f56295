import { openRandom, type Random } from '../random'
import { control } from './control'
import { changeFaults, monad, type RpcFaults, type WrongAnswer, wrongAnswers } from './faults'
import { type ProxyHeads, readHeads } from './heads'
import { openJournal, type ProxyJournal, recordCall } from './journal'
import { openQuota, type Quota } from './quota'
import { distort, type Reads, rewrite } from './reads'
import { askNode, type RpcAsk, type RpcReply } from './rpc'
import { send, type Verdicts } from './sends'

export type RpcProxy = AsyncDisposable & {
  readonly url: string
  readonly journal: ProxyJournal
  readonly faults: () => RpcFaults
  /** Merges a change of faults. `{}` ends all faults. */
  readonly setFaults: (change: Partial<RpcFaults>) => void
}

type Context = {
  readonly target: string
  readonly chance: Random
  readonly journal: ProxyJournal
  readonly verdicts: Verdicts
  readonly reads: Reads
  readonly quota: Quota
  readonly closing: AbortController
  faults: RpcFaults
  /** Heads at which the chain stands still; undefined while it moves. */
  still: Promise<ProxyHeads> | undefined
}

export function openRpcProxy(options: {
  target: string
  port?: number
  host?: string
  faults?: Partial<RpcFaults>
}): RpcProxy {
  const context: Context = {
    target: options.target,
    chance: openRandom(),
    journal: openJournal(),
    verdicts: new Map(),
    reads: new Map(),
    quota: openQuota(),
    closing: new AbortController(),
    faults: monad,
    still: undefined,
  }
  const setFaults = (change: Record<string, unknown>) => {
    const changed = changeFaults(context.faults, change)
    if ('wrong' in changed) throw new Error(changed.wrong.join('; '))
    context.faults = changed.faults
    context.still = changed.faults.headStandsStill ? (context.still ?? readHeads(context.target, 0)) : undefined
    if ('seed' in change || Object.keys(change).length === 0) context.chance.reseed(context.faults.seed)
  }
  if (options.faults) setFaults(options.faults)
  const server = Bun.serve({
    hostname: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    idleTimeout: 0,
    fetch: (request) => answer(context, request, setFaults),
  })
  return {
    url: `http://${options.host ?? '127.0.0.1'}:${server.port}`,
    journal: context.journal,
    faults: () => context.faults,
    setFaults,
    [Symbol.asyncDispose]: async () => {
      context.closing.abort()
      await server.stop(true)
    },
  }
}

async function answer(
  context: Context,
  request: Request,
  setFaults: (change: Record<string, unknown>) => void,
): Promise<Response> {
  const { faults, chance, journal } = context
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/control/')) return control(context, request, pathname, setFaults)
  const asked = (await request.json()) as RpcAsk | RpcAsk[]
  journal.requests += 1
  if (faults.delayMs > 0) await Bun.sleep(faults.delayMs)
  const asks = Array.isArray(asked) ? asked : [asked]
  if (!context.quota.admits(asks, faults) || chance.hits(faults.tooManyRequestsRate)) {
    journal.tooMany += 1
    return new Response('too many requests', { status: 429, headers: { 'retry-after': '1' } })
  }
  if (Array.isArray(asked) && !faults.takesBatches)
    return Response.json({ error: { code: -32600, message: 'no batches here' } }, { status: 400 })
  if (chance.hits(faults.disconnectRate)) return cut()
  if (chance.hits(faults.hangRate)) return hang(context)
  const isWrong = asks.some(({ method }) => method === faults.wrongMethod)
  if (isWrong && wrongAnswers[faults.wrongAnswer] === 'page') return new Response('<html></html>')
  if (isWrong && wrongAnswers[faults.wrongAnswer] === 'hang') return hang(context)
  const replies = await answerAll(context, asks)
  if (replies === 'hang') return hang(context)
  const tooWide = replies.some((reply) => reply.error?.code === -32614)
  const status = tooWide ? faults.logsRangeStatus : 200
  return Response.json(Array.isArray(asked) ? replies : replies[0], { status })
}

/** Answers all calls of a request. They reach the same node, so the lag is drawn once. */
async function answerAll(context: Context, asks: readonly RpcAsk[]): Promise<RpcReply[] | 'hang'> {
  const { faults, chance, target, reads } = context
  const back = chance.hits(faults.headBackRate) ? faults.headBackBlocks : 0
  const lagBlocks = faults.headLagBlocks + back
  const isBehind = lagBlocks > 0 || faults.logsClampBlocks > 0
  const heads = (await context.still) ?? (isBehind ? await readHeads(target, lagBlocks) : null)
  const replies = new Map<RpcAsk, RpcReply>()
  const forwarded: { original: RpcAsk; ask: RpcAsk }[] = []
  for (const original of asks) {
    recordCall(context.journal, original.method)
    if (original.method === faults.wrongMethod) {
      replies.set(original, wrongReplyTo(original, faults.wrongAnswer))
      continue
    }
    if (original.method === 'eth_sendRawTransaction') {
      const reply = await send(original, { ...context, later: laterIn(context) })
      if (reply === 'hang') return 'hang'
      replies.set(original, reply)
      continue
    }
    const decided = rewrite(original, faults, heads)
    if ('reply' in decided) replies.set(original, decided.reply)
    else forwarded.push({ original, ask: decided.ask })
  }
  const answers = await askNode(
    target,
    forwarded.map(({ ask }) => ask),
  )
  for (const [index, { original, ask }] of forwarded.entries()) {
    replies.set(original, distort(ask, answers[index]!, faults, { heads, chance, reads }))
  }
  return asks.map((ask) => replies.get(ask)!)
}

function wrongReplyTo(ask: RpcAsk, answer: WrongAnswer): RpcReply {
  const wrong = wrongAnswers[answer]
  return { jsonrpc: '2.0', id: ask.id ?? null, ...(typeof wrong === 'string' ? {} : wrong) }
}

const laterIn = (context: Context) => (work: () => void, ms: number) => {
  const timer = setTimeout(work, ms)
  context.closing.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
}

/** Waits until the proxy closes. */
const hang = (context: Context): Promise<Response> =>
  new Promise((resolve) => {
    context.closing.signal.addEventListener('abort', () => resolve(new Response(null)), {
      once: true,
    })
  })

/** Returns a response that the caller sees as a connection reset. */
const cut = (): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('['))
        controller.error(undefined) // With undefined, Bun prints nothing; it would print an `Error`.
      },
    }),
  )
