/**
 * A reported picture, revealed in steps. The browser loads it only when a step asks for it, and renders the mosaic itself,
 * because the server never decodes pictures.
 */
import { html, raw } from 'hono/html'
import type { Page } from '../pages/page.ts'

const STEPS = { text: 'Text only', mosaic: 'Mosaic', blurred: 'Blurred', grey: 'Grey', colour: 'Colour' }

export type DetailLevel = keyof typeof STEPS

export function isDetailLevel(text: string): text is DetailLevel {
  return Object.hasOwn(STEPS, text)
}

/** Links to all steps. The Space key goes to the next one. */
export function steps(path: string, show: DetailLevel): Page {
  const at = Object.keys(STEPS).indexOf(show)
  return html`<nav class="steps" aria-label="How much of the picture is shown"><ol>${Object.entries(
    STEPS,
  ).map(
    ([name, label], i) =>
      html`<li><a href="${path}${name === 'text' ? '' : `?show=${name}`}#picture"${i === at ? raw(' aria-current="true"') : ''}${i === at + 1 ? raw(' data-key="space" aria-keyshortcuts="Space"') : ''}>${label}${i === at + 1 ? html` <kbd>space</kbd>` : ''}</a></li>`,
  )}</ol></nav>`
}

/** `part`: the uploader supplies the preview shown by chats and galleries, so it may differ from the image. */
export function picture(
  id: string,
  show: DetailLevel,
  alt: string,
  part: 'bytes' | 'preview' = 'bytes',
): Page | '' {
  if (show === 'text') return ''
  return html`<img class="reported" data-show="${show}" src="/images/${id}/${part}" alt="${alt}" decoding="async">`
}

/**
 * SVG filter for a mosaic of 16-pixel cells: removes colour, blurs, samples the centre of each cell and dilates the sample to
 * fill it. The last step makes the blurred edges opaque. Must precede the pictures that use it in the document.
 */
export function mosaicFilter(): Page {
  return html`<svg class="filters" width="0" height="0" aria-hidden="true" focusable="false"><filter id="mosaic" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB"><feColorMatrix type="saturate" values="0"/><feGaussianBlur stdDeviation="8" result="soft"/><feFlood x="7" y="7" width="2" height="2"/><feComposite x="0" y="0" width="16" height="16"/><feTile result="points"/><feComposite in="soft" in2="points" operator="in"/><feMorphology operator="dilate" radius="8"/><feComponentTransfer><feFuncA type="linear" slope="0" intercept="1"/></feComponentTransfer></filter></svg>`
}
