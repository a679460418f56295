import { empty, fill, h, itemLink } from '/console/dom.js'
import { get, post } from '/console/session.js'

/** Returns the view of actions on a stack with a sandbox; each one asks for confirmation. */
export function sandboxView({ isPaused }) {
  const place = h('div')
  const draw = async () => {
    try {
      const { actions } = await get('/console/actions')
      const groups = Map.groupBy(actions, ({ group }) => group)
      fill(
        place,
        [...groups].map(([name, offered]) => groupOf(name, offered, draw)),
      )
    } catch (error) {
      fill(place, empty(`Could not load: ${error.message}`))
    }
  }
  if (isPaused()) fill(place, empty('Paused: no requests are sent.', 'Press p to resume.'))
  else void draw()
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'sandbox' },
      h('h2', { id: 'sandbox' }, 'Sandbox'),
      h('p', { class: 'quiet' }, 'The services are real; the bank, the providers and the chain are local simulations.'),
      place,
    ),
    refresh: draw,
  }
}

const groupOf = (name, actions, again) =>
  h(
    'section',
    { class: 'group', 'aria-label': name },
    h('h3', {}, name),
    h(
      'div',
      { class: 'cards' },
      actions.map((action) => formOf(action, again)),
    ),
  )

function formOf(action, again) {
  const inputs = action.fields.map((field) => [field, inputOf(action, field)])
  const outcome = h('p', { role: 'status', class: 'outcome' })
  const place = h('div', { class: 'row' })
  const ask = (event) => {
    event.preventDefault()
    const yes = h('button', { type: 'button', class: 'primary', click: act }, 'Confirm')
    fill(place, h('p', { class: 'warn' }, action.confirm), yes, h('button', { type: 'button', click: rest }, 'Cancel'))
    yes.focus()
  }
  const rest = () => {
    const button = h(
      'button',
      {
        type: 'submit',
        disabled: action.disabled !== undefined,
        'aria-describedby': `${action.name}-why`,
      },
      'Run',
    )
    fill(place, button)
    return button
  }
  const act = async () => {
    fill(place, h('p', { class: 'quiet' }, 'Running'))
    try {
      const given = Object.fromEntries(inputs.map(([{ name }, input]) => [name, input.value]))
      const { said, item } = await post(`/console/actions/${action.name}`, given)
      fill(outcome, said, ' ', item ? itemLink(item, 'View item') : undefined)
      outcome.className = 'outcome good'
    } catch (error) {
      const unknown = error instanceof TypeError
      fill(outcome, unknown ? 'No response: it may or may not have run.' : error.message)
      outcome.className = 'outcome bad'
    }
    rest().focus()
  }
  rest()
  return h(
    'form',
    { class: 'card', submit: ask, 'aria-label': action.title },
    h('h4', {}, action.title),
    inputs.map(([field, input]) => h('p', { class: 'field' }, h('label', { for: input.id }, field.label), input)),
    place,
    h('p', { id: `${action.name}-why`, class: 'quiet' }, action.disabled ?? ''),
    outcome,
    action.disabled ? h('button', { type: 'button', click: again }, 'Refresh') : undefined,
  )
}

function inputOf({ name: action }, { name, choices, fallback, pattern }) {
  const id = `${action}-${name}`
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
