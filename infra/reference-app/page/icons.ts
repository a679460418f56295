import type { Item } from '#shared/client/client'

/** Lines of the icons, in a square of 24. The page draws them itself, so that it loads nothing from elsewhere. */
const lines = {
  topup: 'M12 4v11M7.5 10.5 12 15l4.5-4.5M5 20h14',
  settlement: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M8 12.2l2.8 2.8L16 9.5',
  cashout: 'M4 9.5 12 4.5l8 5zM6.5 9.5V17M10.2 9.5V17M13.8 9.5V17M17.5 9.5V17M4 20h16',
  autorepay: 'M4.5 10.5A8 8 0 0 1 18.5 7.5L20 9.5M20 4.5v5h-5M19.5 13.5A8 8 0 0 1 5.5 16.5L4 14.5M4 19.5v-5h5',
  send: 'M6.5 17.5l11-11M9.5 6.5h8v8',
} as const satisfies Record<Item['kind'], string>

const svg = 'http://www.w3.org/2000/svg'

/** Draws the icon of a kind. The text next to it names the kind, so a screen reader skips the icon. */
export function iconOf(kind: Item['kind']): SVGElement {
  const icon = document.createElementNS(svg, 'svg')
  const path = document.createElementNS(svg, 'path')
  icon.setAttribute('class', 'icon')
  icon.setAttribute('viewBox', '0 0 24 24')
  icon.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', lines[kind])
  icon.append(path)
  return icon
}
