type Route = { readonly method: string; readonly path: string }

/** Returns a function that finds the route of a path, and the id in the place of `:id`. */
export function openRouter<R extends Route>(routes: readonly R[]) {
  const known = routes.map((route) => ({ route, parts: route.path.split('/') }))
  return (method: string, path: string): { readonly route: R; readonly id: string } | undefined => {
    const given = path.split('/')
    const found = known.find(
      ({ route, parts }) =>
        route.method === method &&
        parts.length === given.length &&
        parts.every((part, at) => part === ':id' || part === given[at]),
    )
    return found && { route: found.route, id: decodeURIComponent(given[found.parts.indexOf(':id')] ?? '') }
  }
}
