/**
 * Storage key of the token. The token arrives in the fragment, which browsers never send, leaves the
 * address bar at once, stays in this tab, and goes to the server in a header.
 */
const key = 'console-token'

export function takeToken() {
  const [, token] = /^#token=([A-Za-z0-9_-]+)$/.exec(location.hash) ?? []
  if (!token) return
  sessionStorage.setItem(key, token)
  history.replaceState(null, '', '/')
}

export const keepToken = (token) => sessionStorage.setItem(key, token.trim())

const headers = () => ({ authorization: `Bearer ${sessionStorage.getItem(key) ?? ''}` })

/** Error of a request that the server refused, with its message. */
export class Refused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

async function asked(path, init) {
  const answer = await fetch(path, { ...init, headers: { ...headers(), ...init?.headers } })
  if (answer.ok) return answer
  const { error } = await answer.json().catch(() => ({}))
  throw new Refused(answer.status, error ?? `The server answered ${answer.status}.`)
}

export const get = async (path, signal) => (await asked(path, { signal })).json()

export const post = async (path, body) =>
  (
    await asked(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json()

/** Reads server-sent events until the connection ends. EventSource cannot send the token header. */
export async function listen(path, hear, signal) {
  const answer = await asked(path, { signal })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let left = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (left + value).split('\n\n')
    left = parts.pop() ?? ''
    for (const part of parts) {
      const [, event] = /^event: (.*)$/m.exec(part) ?? []
      const [, data] = /^data: (.*)$/m.exec(part) ?? []
      if (event && data) hear(event, JSON.parse(data))
    }
  }
}
