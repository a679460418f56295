/**
 * Parses the current route, such as `#/motion?flow=in`. The route is in the fragment, so links and the
 * back button work and no id in it reaches a server log.
 */
export function routeNow() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = 'motion', id = ''] = path.split('/')
  return { view: view || 'motion', id: decodeURIComponent(id), filters: new URLSearchParams(query) }
}

/** Sets one filter of the current view; each view has its own filters. */
export function setFilter(name, value) {
  const { view, id, filters } = routeNow()
  if (value === '') filters.delete(name)
  else filters.set(name, value)
  const query = filters.size > 0 ? `?${filters}` : ''
  history.replaceState(null, '', `#/${view}${id ? `/${encodeURIComponent(id)}` : ''}${query}`)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

export const go = (path) => {
  location.hash = path
}
