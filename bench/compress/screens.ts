/** What people take screenshots of: fixed pages, the same in every run. */

export interface Screen {
  name: string
  html: string
  width: number
  height: number
  /** Device pixels for a pixel of the page. */
  scale: number
}

/** `photos`: JPEG files as data URLs, for the pages that show some. */
export function screens(photos: string[]): Screen[] {
  return [
    { name: 'code 1x', html: code(), width: 1440, height: 900, scale: 1 },
    { name: 'code 2x', html: code(), width: 1280, height: 800, scale: 2 },
    { name: 'docs 1x', html: docs(), width: 1366, height: 900, scale: 1 },
    { name: 'dashboard 2x', html: dashboard(), width: 1280, height: 800, scale: 2 },
    { name: 'chat with photos 3x', html: chat(photos), width: 390, height: 844, scale: 3 },
    { name: 'article with photo 1x', html: article(photos), width: 1280, height: 1000, scale: 1 },
  ]
}

const WORDS =
  'the image travels through a small hole and stands upside down on the far wall where light that was everywhere becomes a picture of one place seen from one point without lens or mirror and nobody who stands in the dark room is ever asked for a name'.split(
    ' ',
  )

/** Words that look like text and never change. */
function words(count: number, seed: number): string {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return WORDS[state % WORDS.length]
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

function article(photos: string[]): string {
  return page(
    'background:#fffdf9;color:#222;font:18px/1.6 serif;padding:30px 240px',
    `<h1>${words(7, 4)}</h1><img src="${photos[1 % photos.length]}" style="width:560px;display:block"><p>${words(90, 11)}.</p><p>${words(120, 12)}.</p><p>${words(80, 13)}.</p>`,
  )
}
