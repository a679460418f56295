/** Script that shows the time left. Without it the page shows the time of expiry. */
export const countdown = `
const clock = document.querySelector('[data-expires]')
const endsMs = Date.parse(clock.dataset.expires)
const tick = () => {
  const left = Math.max(0, Math.ceil((endsMs - Date.now()) / 1000))
  const two = (n) => String(n).padStart(2, '0')
  const hours = Math.floor(left / 3600)
  const rest = two(Math.floor(left / 60) % 60) + ':' + two(left % 60)
  clock.textContent = (hours ? hours + ':' : '') + rest + ' left'
  if (left === 0) setTimeout(() => location.reload(), 1500)
  else setTimeout(tick, 1000 - (Date.now() % 1000))
}
tick()
`
