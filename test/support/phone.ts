import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Context, createContext, runInContext } from 'node:vm'
import { repositoryDir } from '#infra/local/folders'
import type * as client from '#shared/client/client'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

type Loaded = {
  readonly client: typeof client
  readonly AbortController: new () => AbortController
}

/** Parts of the language that not every Hermes has: 0.14 lacks `toSorted`, for example. */
const absent = [
  'Array.fromAsync',
  'Array.prototype.toSorted',
  'Iterator',
  'Map.groupBy',
  'Object.groupBy',
  'Promise.withResolvers',
  'Set.prototype.union',
  'Atomics',
  'SharedArrayBuffer',
  'WebAssembly',
]

/**
 * Loads the script that apps install, with the globals of React Native 0.86 and Hermes, and the one polyfill that the guide names
 * for it. `fetch` is the network; `speed` divides every delay. `bundle` is the path of a script that Metro has made of it, whose
 * app sets `client`.
 */
export function loadOnPhone({
  fetch: network = fetch as Fetch,
  speed = 1,
  bundle,
}: {
  fetch?: Fetch
  speed?: number
  bundle?: string
} = {}): Loaded {
  const globals = {
    AbortController: PhoneAbortController,
    AbortSignal: PhoneAbortSignal,
    clearTimeout,
    console,
    crypto: { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) },
    fetch: phoneFetch(network),
    Headers,
    performance: { now: () => performance.now() },
    Response: PhoneResponse,
    setTimeout: (work: () => void, ms = 0) => setTimeout(work, ms / speed),
    TextEncoder,
  }
  const context = createContext(globals)
  for (const name of absent) {
    const path = name.split('.')
    runInContext(`delete ${path.length === 1 ? `globalThis.${name}` : name}`, context)
    if (runInContext(`typeof ${name}`, context) !== 'undefined') throw new Error(`${name} is still there`)
  }
  return {
    client: bundle ? runBundle(bundle, context) : runScript(context),
    AbortController: PhoneAbortController as unknown as Loaded['AbortController'],
  }
}

/** Runs the module as a function, as Metro does, but without Metro. */
function runScript(context: Context): typeof client {
  const script = readFileSync(join(repositoryDir, 'shared/client/client.gen.js'), 'utf8')
  const [body, exported] = script.split(/^export (?=\{)/m)
  return runInContext(`(() => { ${body}\nreturn ${exported} })()`, context)
}

function runBundle(path: string, context: Context): typeof client {
  runInContext(readFileSync(path, 'utf8'), context)
  return runInContext('client', context)
}

/** Signal of abort-controller 3.0.0, which React Native has: it knows no reason, no timeout, and is made by its controller alone. */
class PhoneAbortSignal {
  constructor() {
    throw new TypeError('AbortSignal cannot be constructed directly')
  }
  get aborted(): boolean {
    return aborted.has(this)
  }
  addEventListener(_: 'abort', listener: () => void) {
    listenersOf(this).add(listener)
  }
  removeEventListener(_: 'abort', listener: () => void) {
    listenersOf(this).delete(listener)
  }
}
const aborted = new WeakSet<PhoneAbortSignal>()
const listeners = new WeakMap<PhoneAbortSignal, Set<() => void>>()
function listenersOf(signal: PhoneAbortSignal): Set<() => void> {
  const own = listeners.get(signal) ?? new Set()
  listeners.set(signal, own)
  return own
}
class PhoneAbortController {
  readonly signal = Object.create(PhoneAbortSignal.prototype) as PhoneAbortSignal
  abort() {
    if (aborted.has(this.signal)) return
    aborted.add(this.signal)
    for (const listener of [...listenersOf(this.signal)]) listener()
  }
}

/** Response of React Native, which arrives as a whole: it has no `body`. */
class PhoneResponse {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  readonly #text: string
  constructor({ status, ok, headers }: Response, text: string) {
    this.status = status
    this.ok = ok
    this.headers = headers
    this.#text = text
  }
  text = async () => this.#text
  json = async () => JSON.parse(this.#text)
}

const phoneFetch =
  (network: Fetch) =>
  async (url: string, { signal, ...init }: Omit<RequestInit, 'signal'> & { signal?: PhoneAbortSignal } = {}) => {
    const real = new AbortController()
    const stop = () => real.abort()
    if (signal && !(signal instanceof PhoneAbortSignal)) throw new TypeError('the signal is not one of this platform')
    signal?.addEventListener('abort', stop)
    try {
      const response = await network(url, { ...init, signal: real.signal })
      return new PhoneResponse(response, await response.text())
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }
