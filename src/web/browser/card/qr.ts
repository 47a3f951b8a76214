/** QR code of a link, to open it on another device. */
import '../../style/qr.css'
import { encode } from 'uqr'

const SVG = 'http://www.w3.org/2000/svg'

export function showQr(link: string): void {
  const dialog = document.getElementById('qr') as HTMLDialogElement
  const { data, size } = encode(link, { ecc: 'M', border: 4 })
  const drawing = document.createElementNS(SVG, 'svg')
  drawing.setAttribute('viewBox', `0 0 ${size} ${size}`)
  drawing.setAttribute('role', 'img')
  drawing.setAttribute('aria-label', link)
  const path = document.createElementNS(SVG, 'path')
  const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? `M${x} ${y}h1v1h-1z` : [])))
  path.setAttribute('d', dark.join(''))
  drawing.append(path)
  dialog.querySelector('.qr-code')!.replaceChildren(drawing)
  dialog.querySelector('.qr-link')!.textContent = link
  dialog.showModal()
}
