/** Deterministic pages that resemble typical screenshots. */

export interface Screen {
  name: string
  html: string
  width: number
  height: number
  /** Device pixel ratio. */
  scale: number
  /** The background is transparent in the screenshot. */
  transparent?: true
}

/** `photos`: JPEG files as data URLs, for pages with photographs. */
export function screens(photos: string[]): Screen[] {
  return [
    { name: 'code 1x', html: code(), width: 1440, height: 900, scale: 1 },
    { name: 'code 2x', html: code(), width: 1280, height: 800, scale: 2 },
    { name: 'docs 1x', html: docs(), width: 1366, height: 900, scale: 1 },
    { name: 'dashboard 2x', html: dashboard(), width: 1280, height: 800, scale: 2 },
    { name: 'chat with photos 3x', html: chat(photos), width: 390, height: 844, scale: 3 },
    { name: 'terminal 2x', html: terminal(), width: 1000, height: 640, scale: 2 },
    { name: 'spreadsheet 1x', html: spreadsheet(), width: 1600, height: 900, scale: 1 },
    { name: 'window with shadow 2x', html: dialog(), width: 720, height: 520, scale: 2, transparent: true },
    { name: 'photo, full screen 1x', html: photoViewer(photos.at(-2)!), width: 1280, height: 800, scale: 1 },
    { name: 'soft photo, full screen 1x', html: photoViewer(photos[0]!), width: 1280, height: 800, scale: 1 },
    { name: 'article with photo 1x', html: article(photos), width: 1280, height: 1000, scale: 1 },
  ]
}

const WORDS =
  'the image travels through a small hole and stands upside down on the far wall where light that was everywhere becomes a picture of one place seen from one point without lens or mirror and nobody who stands in the dark room is ever asked for a name'.split(
    ' ',
  )

/** Deterministic words that resemble text. */
function words(count: number, seed: number): string {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648
    // The low bits of a linear congruential generator have a short period.
    return WORDS[(state >> 12) % WORDS.length]
  }).join(' ')
}

function page(style: string, body: string): string {
  return `<!doctype html><meta charset="utf-8"><style>*{box-sizing:border-box}body{margin:0;font:15px/1.5 "Open Sans",sans-serif;${style}}</style>${body}`
}

function code(): string {
  const colours = ['#c678dd', '#61afef', '#98c379', '#e5c07b', '#e06c75', '#abb2bf']
  const lines = Array.from({ length: 60 }, (_, i) => {
    const parts = words(4 + (i % 7), i + 1)
      .split(' ')
      .map((word, at) => `<span style="color:${colours[(i + at) % 6]}">${word}${'.(){};'[at % 6]}</span>`)
    return `<div><i>${i + 1}</i>${'&nbsp;'.repeat(2 * (i % 5))}${parts.join(' ')}</div>`
  })
  return page(
    'background:#282c34;display:flex',
    `<style>i{display:inline-block;width:48px;color:#636d83;font-style:normal}nav{width:240px;background:#21252b;color:#9da5b4;padding:12px}main{font:13px/18px monospace;padding:8px}</style>
     <nav>${Array.from({ length: 30 }, (_, i) => `<div>${words(1, i + 9)}-${words(1, i + 90)}.ts</div>`).join('')}</nav><main>${lines.join('')}</main>`,
  )
}

function docs(): string {
  const parts = Array.from(
    { length: 5 },
    (_, i) =>
      `<h2>${words(4, i + 30)}</h2><p>${words(70, i + 5)}.</p><pre>const ${words(1, i)} = await ${words(1, i + 3)}()\n// ${words(8, i)}</pre>`,
  )
  return page(
    'background:#fff;color:#1b1b1b;display:flex',
    `<style>aside{width:260px;padding:24px;border-right:1px solid #ddd;color:#36c}main{max-width:760px;padding:24px 40px}pre{background:#f4f4f6;padding:12px;border-radius:6px}</style>
     <aside>${Array.from({ length: 24 }, (_, i) => `<div>${words(3, i + 50)}</div>`).join('')}</aside><main><h1>${words(5, 3)}</h1>${parts.join('')}</main>`,
  )
}

function dashboard(): string {
  const line = (seed: number) =>
    Array.from(
      { length: 60 },
      (_, i) => `${i * 10},${100 - 60 * Math.abs(Math.sin(i / (5 + seed)) + Math.cos(i * seed) / 4)}`,
    ).join(' ')
  const card = (i: number) =>
    `<section><h3>${words(3, i + 7)}</h3><b>${(i * 7919) % 10000}</b><svg viewBox="0 0 600 120" width="100%"><defs><linearGradient id="g${i}" x2="0" y2="1"><stop stop-color="hsl(${i * 50} 80% 60%)"/><stop offset="1" stop-color="white" stop-opacity="0"/></linearGradient></defs><polygon fill="url(#g${i})" points="0,120 ${line(i + 1)} 590,120"/><polyline fill="none" stroke="hsl(${i * 50} 80% 45%)" stroke-width="2" points="${line(i + 1)}"/></svg></section>`
  return page(
    'background:#f0f2f7;color:#223;padding:24px',
    `<style>main{display:grid;grid-template-columns:repeat(3,1fr);gap:20px}section{background:#fff;border-radius:14px;padding:18px;box-shadow:0 4px 18px #2232}b{font-size:30px}</style><h1>${words(2, 8)}</h1><main>${Array.from({ length: 9 }, (_, i) => card(i)).join('')}</main>`,
  )
}

function chat(photos: string[]): string {
  const bubbles = Array.from({ length: 8 }, (_, i) => {
    const own = i % 3 === 1
    const photo = i === 2 || i === 5 ? `<img src="${photos[i % photos.length]}" width="220">` : ''
    return `<p style="align-self:flex-${own ? 'end' : 'start'};background:${own ? '#0a7cff;color:#fff' : '#e9e9ee'}">${photo}${words(6 + 3 * i, i + 70)}</p>`
  })
  return page(
    'background:#fff;display:flex;flex-direction:column;padding:12px',
    `<style>p{max-width:78%;border-radius:18px;padding:8px 13px;margin:4px}img{display:block;border-radius:10px}</style>${bubbles.join('')}`,
  )
}

function terminal(): string {
  const lines = Array.from({ length: 34 }, (_, i) =>
    i % 6 === 0
      ? `<b>user@host</b>:<u>~/${words(1, i + 2)}</u>$ ${words(3, i + 40)}`
      : `-rw-r--r-- 1 user user ${(i * 104729) % 100000} Nov ${10 + (i % 20)} 1${i % 10}:0${i % 6} ${words(2, i + 60).replace(' ', '_')}`,
  )
  return page(
    'background:#300a24;color:#eee',
    `<style>pre{margin:8px;font:14px/18px monospace}b{color:#8ae234}u{color:#729fcf;text-decoration:none}</style><pre>${lines.join('\n')}</pre>`,
  )
}

function spreadsheet(): string {
  const rows = Array.from(
    { length: 36 },
    (_, y) =>
      `<tr><th>${y + 1}</th>${Array.from({ length: 14 }, (_, x) => `<td>${x % 4 === 0 ? words(2, y + 20 * x) : ((y * 7919 + x * 104729) % 100000) / 100}</td>`).join('')}</tr>`,
  )
  return page(
    'background:#fff',
    `<style>table{border-collapse:collapse;font-size:13px}td,th{border:1px solid #ddd;padding:2px 8px;min-width:96px}th{background:#f3f3f3;min-width:40px}</style><table>${rows.join('')}</table>`,
  )
}

function dialog(): string {
  const rows = Array.from(
    { length: 7 },
    (_, i) =>
      `<p><span>${words(4, i + 33)}</span><i style="background:${i % 2 ? '#34c759' : '#ccc'}"></i></p>`,
  )
  return page(
    'background:transparent',
    `<style>main{margin:40px;background:#f6f6f8;border-radius:12px;box-shadow:0 18px 36px #0006;padding:18px 26px}p{display:flex;justify-content:space-between}i{width:40px;height:22px;border-radius:11px}</style><main><h2>${words(2, 15)}</h2>${rows.join('')}</main>`,
  )
}

function photoViewer(photo: string): string {
  return page(
    `background:#111 url(${photo}) center/1280px 800px;height:800px`,
    '<div style="padding:10px;background:#000a;color:#fff">‹ &nbsp; photo.jpg &nbsp; ›</div>',
  )
}

function article(photos: string[]): string {
  return page(
    'background:#fffdf9;color:#222;font:18px/1.6 serif;padding:30px 240px',
    `<h1>${words(7, 4)}</h1><img src="${photos[1 % photos.length]}" style="width:560px;display:block"><p>${words(90, 11)}.</p><p>${words(120, 12)}.</p><p>${words(80, 13)}.</p>`,
  )
}
