type Child = Node | string | undefined | null | false
type Children = readonly (Child | readonly Child[])[]
type Property = string | number | boolean | undefined | ((event: Event) => void)

/**
 * Creates an element. Strings are set as text, so a response cannot inject markup. A function becomes an event
 * listener; `undefined` and `false` omit the attribute.
 */
export function h<N extends keyof HTMLElementTagNameMap>(
  name: N,
  properties: Readonly<Record<string, Property>> = {},
  ...children: Children
): HTMLElementTagNameMap[N] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(key, value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== undefined && value !== false) element.setAttribute(key, String(value))
  }
  fill(element, ...children)
  return element
}

export function fill(element: Element, ...children: Children): void {
  const shown = children.flat().filter((child) => child !== undefined && child !== null && child)
  element.replaceChildren(...(shown as (Node | string)[]))
}

export const facts = (rows: readonly (readonly [string, Child])[]): HTMLElement =>
  h(
    'dl',
    {},
    rows
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  )

/** Rebuilds only changed content, so that polling neither moves the focus nor makes a screen reader repeat itself. */
export function liveContent<T>(element: Element, build: (data: T) => Children) {
  let shown: string | undefined
  return (data: T): void => {
    const key = JSON.stringify(data)
    if (key === shown) return
    shown = key
    fill(element, ...build(data))
  }
}

/** Updates a list whose rows keep their focus and state. */
export function keyedList<T extends { readonly id: string | number }>(
  element: HTMLElement,
  create: (row: T) => { readonly element: HTMLElement; readonly update: (row: T) => void },
) {
  const known = new Map<T['id'], ReturnType<typeof create>>()
  return (rows: readonly T[]): void => {
    const shown = rows.map((row) => {
      const one = known.get(row.id) ?? create(row)
      known.set(row.id, one)
      one.update(row)
      return one.element
    })
    // Moving an element would take the focus from it.
    if (shown.length !== element.children.length || shown.some((one, at) => one !== element.children[at]))
      element.replaceChildren(...shown)
  }
}

/** Thrown for an invalid input. The message is shown at its field. */
export class InvalidField extends Error {
  override name = 'InvalidField'
}

type Input = HTMLInputElement | HTMLSelectElement
type InputField = {
  readonly element: HTMLElement
  readonly input: Input
  /** Throws `InvalidField` and focuses the field if `parse` returns undefined. */
  readonly read: <T>(parse: (text: string) => T | undefined, fault: string) => T
}

let ids = 0
const newId = (): string => `f${++ids}`

/** Creates a field. The hint and the last fault describe the input. */
export function field(label: string, input: Input, hint?: string): InputField {
  input.id = newId()
  const fault = h('span', { class: 'fault', id: newId() })
  const note = hint ? h('span', { class: 'quiet', id: newId() }, hint) : undefined
  input.setAttribute('aria-describedby', [note?.id, fault.id].filter(Boolean).join(' '))
  const element = h('p', { class: 'field' }, h('label', { for: input.id }, label), note, input, fault)
  const read = <T>(parse: (text: string) => T | undefined, text: string): T => {
    const value = parse(input.value.trim())
    fault.textContent = value === undefined ? text : ''
    if (value !== undefined) {
      input.removeAttribute('aria-invalid')
      return value
    }
    input.setAttribute('aria-invalid', 'true')
    input.focus()
    throw new InvalidField(text)
  }
  return { element, input, read }
}

/** Creates radio buttons. The first one is chosen until another is. */
export function choice<T extends string>(legend: string, options: readonly (readonly [T, string])[]) {
  const name = newId()
  const radios = options.map(([value, label], at) => {
    const radio = h('input', { type: 'radio', name, value, checked: at === 0 })
    return h('label', { class: 'option' }, radio, label)
  })
  const element = h('fieldset', {}, h('legend', {}, legend), radios)
  const read = () => element.querySelector<HTMLInputElement>(':checked')?.value as T
  const choose = (wanted: T) => {
    for (const radio of element.querySelectorAll('input')) radio.checked = radio.value === wanted
  }
  return { element, read, choose }
}

export const select = (options: readonly (readonly [string, string])[], chosen = '') =>
  h(
    'select',
    {},
    options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  )

/** Copies a text. Over plain http, or without the permission, there is no clipboard. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = h('textarea', {}, text)
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

export function copyButton(label: string, done: string, text: () => string): HTMLElement {
  const button = h('button', { type: 'button', class: 'small', 'aria-live': 'polite' }, label)
  button.addEventListener('click', async () => {
    await copy(text())
    button.focus()
    button.textContent = done
    setTimeout(() => {
      button.textContent = label
    }, 2_000)
  })
  return button
}

export function download(name: string, type: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }))
  h('a', { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
