import { empty, fill, h, itemLink } from '/console/dom.js'
import { get, post } from '/console/session.js'

/** What a person can do to a stack with a sandbox; each deed is asked about before it is done. */
export function sandboxView({ isPaused }) {
  const place = h('div')
  const draw = async () => {
    try {
      const { deeds } = await get('/console/deeds')
      const groups = Map.groupBy(deeds, ({ group }) => group)
      fill(
        place,
        [...groups].map(([name, offered]) => groupOf(name, offered, draw)),
      )
    } catch (error) {
      fill(place, empty(`The buttons are not there: ${error.message}`))
    }
  }
  if (isPaused()) fill(place, empty('Paused: nothing is asked.', 'Press p to go on.'))
  else void draw()
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'sandbox' },
      h('h2', { id: 'sandbox' }, 'Sandbox'),
      h(
        'p',
        { class: 'quiet' },
        'Everything here is real but the bank, the provider and the chain behind it.',
      ),
      place,
    ),
    refresh: draw,
  }
}

const groupOf = (name, deeds, again) =>
  h(
    'section',
    { class: 'group', 'aria-label': name },
    h('h3', {}, name),
    h(
      'div',
      { class: 'cards' },
      deeds.map((deed) => formOf(deed, again)),
    ),
  )

function formOf(deed, again) {
  const inputs = deed.fields.map((field) => [field, inputOf(deed, field)])
  const outcome = h('p', { role: 'status', class: 'outcome' })
  const place = h('div', { class: 'row' })
  const ask = (event) => {
    event.preventDefault()
    const yes = h('button', { type: 'button', class: 'primary', click: act }, 'Yes, do it')
    fill(
      place,
      h('p', { class: 'warn' }, deed.confirm),
      yes,
      h('button', { type: 'button', click: rest }, 'Leave it'),
    )
    yes.focus()
  }
  const rest = () => {
    const button = h(
      'button',
      {
        type: 'submit',
        disabled: deed.disabled !== undefined,
        'aria-describedby': `${deed.name}-why`,
      },
      'Do it',
    )
    fill(place, button)
    return button
  }
  const act = async () => {
    fill(place, h('p', { class: 'quiet' }, 'Under way'))
    try {
      const given = Object.fromEntries(inputs.map(([{ name }, input]) => [name, input.value]))
      const { said, item } = await post(`/console/deeds/${deed.name}`, given)
      fill(outcome, said, ' ', item ? itemLink(item, 'Follow it') : undefined)
      outcome.className = 'outcome good'
    } catch (error) {
      const unknown = error instanceof TypeError
      fill(outcome, unknown ? 'No answer came: it may have been done.' : error.message)
      outcome.className = 'outcome bad'
    }
    rest().focus()
  }
  rest()
  return h(
    'form',
    { class: 'card', submit: ask, 'aria-label': deed.title },
    h('h4', {}, deed.title),
    inputs.map(([field, input]) =>
      h('p', { class: 'field' }, h('label', { for: input.id }, field.label), input),
    ),
    place,
    h('p', { id: `${deed.name}-why`, class: 'quiet' }, deed.disabled ?? ''),
    outcome,
    deed.disabled ? h('button', { type: 'button', click: again }, 'Look again') : undefined,
  )
}

function inputOf({ name: deed }, { name, choices, fallback, pattern }) {
  const id = `${deed}-${name}`
  if (!choices)
    return h('input', {
      id,
      type: 'text',
      value: fallback,
      pattern,
      required: true,
      autocomplete: 'off',
    })
  return h(
    'select',
    { id },
    choices.map(({ value, label }) => h('option', { value, selected: value === fallback }, label)),
  )
}
