/**
 * Creates an element. Text is always set as text, so messages cannot inject markup. A function property
 * becomes an event listener; `undefined` and `false` omit the attribute.
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(key, value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== undefined && value !== false) element.setAttribute(key, String(value))
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null))
  return element
}

/** Replaces the children of an element. */
export const fill = (element, ...children) => {
  element.replaceChildren(...children.flat().filter((child) => child !== undefined && child !== null))
}

/** Returns the message that a view without rows shows. */
export const empty = (why, advice) =>
  h('div', { class: 'empty' }, h('p', {}, why), advice ? h('p', { class: 'quiet' }, advice) : undefined)

/** Shortens an id or hash; the full value is in its title. */
export function short(id) {
  if (id.length <= 20) return id
  return h('span', { title: id }, `${id.slice(0, 10)}…${id.slice(-6)}`)
}

/** Returns a link to the item page of an id. */
export const itemLink = (id, words) =>
  h('a', { class: 'id', href: `#/item/${encodeURIComponent(id)}` }, words ?? short(id))

/** Time for which a button says that it has copied, in ms. */
const copiedMs = 1_500

/** Returns a button that copies a text, such as an id or a command. */
export function copyButton(text) {
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${text}` }, 'Copy')
  button.addEventListener('click', async () => {
    const words = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    )
    fill(button, words)
    setTimeout(() => fill(button, 'Copy'), copiedMs)
  })
  return button
}

/** Formats a duration in milliseconds for reading. */
export function inWords(ms) {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

/** Formats the time of day; `exact` adds milliseconds. */
export function timeOf(iso, exact = false) {
  const at = new Date(iso)
  const two = (number) => String(number).padStart(2, '0')
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return exact ? `${clock}.${String(at.getMilliseconds()).padStart(3, '0')}` : clock
}

export const timeElement = (iso, exact) =>
  h('time', { datetime: iso, title: new Date(iso).toLocaleString() }, timeOf(iso, exact))
