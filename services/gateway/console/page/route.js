/**
 * Where the page is: `#/motion?flow=in`. All of it stands in the fragment, so that it can be sent to
 * somebody and found by the back button, and no id in it is written into the log of any server.
 */
export function routeNow() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = 'motion', id = ''] = path.split('/')
  return { view: view || 'motion', id: decodeURIComponent(id), filters: new URLSearchParams(query) }
}

/** Changes one filter of the view that is shown; another view has its own. */
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
