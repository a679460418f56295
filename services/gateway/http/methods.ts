type Route = { readonly method: string; readonly path: string }

/**
 * Returns a function that lists the methods of a path, sorted; empty for a path without a route. The
 * routes are read at the first call, when all of them are known.
 */
export function openMethods(routes: () => readonly Route[]): (path: string) => readonly string[] {
  let known: readonly { readonly method: string; readonly at: RegExp }[] | undefined
  return (path) => {
    known ??= routes().map(({ method, path: template }) => ({ method, at: patternOf(template) }))
    const methods = known.filter(({ at }) => at.test(path)).map(({ method }) => method)
    return [...new Set(methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])))].sort()
  }
}

/** `:name` is one segment, `*` the rest. A slash at the end is accepted, as by the router. */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.+' : RegExp.escape(part)))
      .join('/')}/?$`,
  )
