/** HTML that only `html` and `trusted` create, so all other text is escaped. */
export type Html = { readonly html: string }

type Piece = string | number | Html | null | false | readonly Html[]

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

export function html(parts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return {
    html: parts.reduce((text, part, index) => `${text}${toText(pieces[index - 1])}${part}`),
  }
}

/** Marks our own styles and scripts as HTML. Never call it with input. */
export const trusted = (text: string): Html => ({ html: text })

function toText(piece: Piece | undefined): string {
  if (piece === null || piece === undefined || piece === false) return ''
  if (typeof piece === 'object') {
    return 'html' in piece ? piece.html : piece.map((item) => item.html).join('')
  }
  return String(piece).replace(/[&<>"']/g, (sign) => entities.get(sign) ?? '')
}
