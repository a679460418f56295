import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import type { ReadBodyOf, Route } from '#shared/api/route'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'
import { readBody } from './body'
import type { Exchange } from './etag'

/** Names of the parameters in a path. */
type NameIn<P extends string> = P extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NameIn<More>
    : Rest
  : never

/** A request as a handler gets it. */
type Served<R extends Route> = Exchange & {
  readonly params: Readonly<Record<NameIn<R['path']>, string>>
  /** The body, read by the route's schema. Deliveries are not read, because their handlers keep their bytes. */
  readonly body: R['access'] extends 'delivery' ? undefined : ReadBodyOf<R>
  /** The signed-in wallet, in lower case. */
  readonly wallet: R['access'] extends 'signed' ? `0x${string}` : undefined
}

type Handled = Exchange & { readonly params?: Record<string, string>; readonly wallet?: string }

/** Serves a route as it is declared: by its access, its body and, in the document, its words and examples. */
export function serve<R extends Route>(access: Access, route: R, handle: (served: Served<R>) => unknown) {
  const read = route.body && route.access !== 'delivery' ? schemaReader(route.body) : undefined
  // Elysia prepares what the parameters of this function name.
  const answer = async ({ request, set, params = {}, wallet }: Handled) => {
    const body = read ? await readBody(request, read) : undefined
    return handle({ request, set, params, body, wallet } as Served<R>)
  }
  const options = { ...(route.access === 'signed' ? { signed: true } : { limited: route.access }), ...operation(route) }
  const routes = new Elysia().use(access)
  return route.method === 'GET'
    ? routes.get(route.path, answer as never, options as never)
    : routes.post(route.path, answer as never, options as never)
}
