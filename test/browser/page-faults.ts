import type { Page } from 'playwright-core'

export const faultsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const faults: string[] = []
    const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true })
    for (const field of document.querySelectorAll<HTMLInputElement>('input, select, textarea'))
      if (isShown(field) && field.labels?.length === 0 && !field.ariaLabel) faults.push(`no label: ${field.outerHTML}`)
    for (const one of document.querySelectorAll('button, a[href], summary'))
      if (isShown(one) && !(one.textContent?.trim() || one.ariaLabel)) faults.push(`no name: ${one.outerHTML}`)
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
    for (const id of ids.filter((one, at) => ids.indexOf(one) !== at)) faults.push(`twice: #${id}`)
    if (!document.documentElement.lang) faults.push('no language')
    if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1')

    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
    const rgba = (colour: string) => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
      return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const luminance = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = rgba(colour).map((part) => {
        const share = part / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const groundOf = (element: Element | null): string => {
      if (!element) return 'white'
      const colour = getComputedStyle(element).backgroundColor
      return rgba(colour)[3] === 0 ? groundOf(element.parentElement) : colour
    }
    for (const element of document.querySelectorAll('body *')) {
      const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
      )
      if (!hasText || !isShown(element) || element.matches(':disabled, .unseen, .skip, noscript')) continue
      const tones = [luminance(getComputedStyle(element).color), luminance(groundOf(element))]
      const ratio = (Math.max(...tones) + 0.05) / (Math.min(...tones) + 0.05)
      if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${element.textContent?.trim()}`)
    }
    return faults
  })
