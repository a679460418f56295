type Route = { readonly method: string; readonly path: string }

/** Returns the methods of a path. The routes are read at the first call, once all exist. */
export function openMethods(routes: () => readonly Route[]): (path: string) => readonly string[] {
  let known: readonly { readonly method: string; readonly at: RegExp }[] | undefined
  return (path) => {
    known ??= routes().map(({ method, path: template }) => ({ method, at: patternOf(template) }))
    const methods = known.filter(({ at }) => at.test(path)).map(({ method }) => method)
    return [...new Set(methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])))].sort()
  }
}

/**
 * Returns the pattern of a template: `:name` is one segment, `*` the rest. Like the router, it accepts a
 * final slash.
 */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.+' : RegExp.escape(part)))
      .join('/')}/?$`,
  )
