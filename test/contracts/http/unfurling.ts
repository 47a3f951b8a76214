/** Requests of chat apps, forums and crawlers for link previews, with their real headers. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { gif, png } from '../../support/images/tiny-images.ts'
import { type Upload, type Visitor, visitsTo, type World } from './host.ts'
import { operate } from './operator.ts'
import { checkPage, checkProblem } from './rules.ts'

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** Headers as documented by the operators of the bots, or as observed. */
const BOTS: Record<string, Record<string, string>> = {
  Slack: {
    'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    Range: 'bytes=0-32768',
    Accept: '*/*',
  },
  Discord: { 'User-Agent': 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)' },
  WhatsApp: { 'User-Agent': 'WhatsApp/2.23.20.0', Accept: '*/*' },
  Signal: { 'User-Agent': 'WhatsApp/2', Range: 'bytes=0-' },
  X: { 'User-Agent': 'Twitterbot/1.0', Accept: HTML },
  Facebook: {
    'User-Agent': 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Accept-Encoding': 'deflate, gzip',
    Range: 'bytes=0-524287',
  },
  Telegram: { 'User-Agent': 'TelegramBot (like TwitterBot)' },
  LinkedIn: { 'User-Agent': 'LinkedInBot/1.0 (compatible; Mozilla/5.0)', Accept: HTML },
  Mastodon: {
    'User-Agent': 'http.rb/5.2.0 (Mastodon/4.3.0; +https://social.example/) Bot',
    Accept: 'text/html',
  },
  iMessage: {
    'User-Agent':
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
    Accept: HTML,
    'Accept-Language': 'en-us',
  },
}

export function unfurlingCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  let done: Promise<{ removed: Upload; held: Upload }> | undefined
  /** A removed and a held image, shared by all cases. */
  const takenDown = (me: Visitor) => {
    done ??= takeDown(me)
    return done
  }

  for (const [bot, headers] of Object.entries(BOTS)) {
    onMain(`gives ${bot} a preview of the image, but none of a hidden or deleted one`, async (me, t) => {
      const { id, key, link } = await me.store(png(1200, 800))
      const plain = { ...headers, 'Accept-Encoding': 'identity' }
      const page = await me.get(`/${id}`, plain)
      checkPage(page, 200)
      const head = await me.request('HEAD', `/${id}`, { headers: plain })
      assert.equal(head.status, 200)
      assert.equal(head.headers.get('Content-Type'), page.headers.get('Content-Type'))
      const meta = metaOf(page.text)
      const image = meta.get('og:image')!
      assert.equal(image, `${me.host.baseUrl}/raw/${id}.png`)
      assert.equal(meta.get('og:url'), link)
      assert.deepEqual([meta.get('og:image:width'), meta.get('og:image:height')], ['1200', '800'])
      assert.equal(meta.get('og:image:type'), 'image/png')
      assert.ok(meta.get('og:title'))
      assert.match(meta.get('og:description')!, /^PNG, 1,200 × 800, \d+\sbytes$/)
      assert.equal(meta.get('twitter:card'), 'summary_large_image')
      assert.ok(
        Buffer.byteLength(page.text.slice(0, page.text.indexOf('</head>'))) < 8192,
        'the head is small',
      )
      assert.equal(
        (await me.get(image.slice(me.host.baseUrl.length), headers)).status,
        headers.Range ? 206 : 200,
      )

      await me.remove(key)
      const gone = await me.get(`/${id}`, plain)
      checkPage(gone, 404)
      assert.doesNotMatch(gone.text, /og:image|twitter:image|oembed/)
      if (!me.host.operator) return t.diagnostic('this host has no operator command')
      const { removed, held } = await takenDown(me)
      for (const [path, status] of [
        [`/${removed.id}`, 410],
        [`/${held.id}`, 403],
      ] as const) {
        const answer = await me.get(path, plain)
        checkPage(answer, status)
        assert.doesNotMatch(answer.text, /og:image|twitter:image|oembed/)
      }
    })
  }

  onMain('announces no large card for images that X does not show', async (me) => {
    const avif = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
      .avif({ effort: 0 })
      .toBuffer()
    for (const bytes of [avif, gif({ size: 5_000_001 })]) {
      const { id } = await me.store(bytes)
      const meta = metaOf((await me.get(`/${id}`)).text)
      assert.equal(meta.get('twitter:card'), 'summary')
      assert.ok(meta.get('og:image'))
    }
  })

  onMain('names on the result page the apps that will show no preview', async (me) => {
    const warningFor = async (size: number) => {
      const { text } = await me.upload(gif({ size }), { Accept: 'text/html' })
      return /Too large for a [^<]*/.exec(text)?.[0] ?? null
    }
    assert.equal(await warningFor(600_000), null)
    assert.match((await warningFor(600_001)) ?? '', /WhatsApp preview/)
    assert.match((await warningFor(5_000_001)) ?? '', /preview in WhatsApp and X/)
  })

  onMain('serves oEmbed at the URL that the page announces', async (me) => {
    const { id, link, key } = await me.store(png(1200, 800))
    const { text } = await me.get(`/${id}`)
    const found = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)"/.exec(text)?.[1]
    assert.equal(found, `${me.host.baseUrl}/oembed?url=${encodeURIComponent(link)}`)
    const ask = (query: string) => me.get(`/oembed?url=${encodeURIComponent(link)}${query}`)
    const photo = (await ask('')).json()
    assert.deepEqual([photo.type, photo.version, photo.width, photo.height], ['photo', '1.0', 1200, 800])
    assert.equal(photo.url, `${me.host.baseUrl}/raw/${id}.png`)
    assert.equal(photo.cache_age, 3600)
    const sizes: [query: string, width: number, height: number][] = [
      ['&maxwidth=600', 600, 400],
      ['&maxheight=100&maxwidth=600', 150, 100],
      ['&maxwidth=5000', 1200, 800],
      ['&maxwidth=1', 1, 1],
      ['&maxwidth=0', 1200, 800],
      ['&maxwidth=-4', 1200, 800],
      ['&maxwidth=x&format=json', 1200, 800],
    ]
    for (const [query, width, height] of sizes) {
      const scaled = (await ask(query)).json()
      assert.deepEqual([scaled.width, scaled.height], [width, height], query)
    }
    assert.equal((await me.get(`/oembed?url=${encodeURIComponent(`${link}?from=chat#top`)}`)).status, 200)
    checkProblem(await ask('&format=xml'), 501, 'unsupported-format')
    checkProblem(await me.get('/oembed'), 400, 'missing-url')
    for (const url of [
      'https://other.example/',
      link.slice(0, -1),
      `${me.host.baseUrl}/raw/${id}`,
      'x',
      `${link}/`,
    ]) {
      checkProblem(await me.get(`/oembed?url=${encodeURIComponent(url)}`), 404, 'not-found')
    }
    await me.remove(key)
    checkProblem(await ask(''), 404, 'not-found')
    if (!me.host.operator) return
    const { removed, held } = await takenDown(me)
    checkProblem(await me.get(`/oembed?url=${encodeURIComponent(removed.link)}`), 410, 'removed')
    checkProblem(await me.get(`/oembed?url=${encodeURIComponent(held.link)}`), 403, 'held')
  })

  onMain('never answers the usual crawler probes with a page', async (me) => {
    const robots = await me.get('/robots.txt', { Accept: HTML })
    assert.equal(robots.status, 200)
    assert.match(robots.headers.get('Content-Type') ?? '', /^text\/plain/)
    assert.doesNotMatch(robots.text, /Disallow: \/(raw)?$/m)
    assert.equal((await me.get('/favicon.ico', { Accept: HTML })).headers.get('Content-Type'), 'image/x-icon')
    const paths =
      '/.well-known/change-password /.well-known/ /sitemap.xml /ads.txt /humans.txt /apple-touch-icon.png ' +
      '/apple-touch-icon-precomposed.png /browserconfig.xml /wp-login.php /.env /.git/config.txt'
    for (const path of paths.split(' ')) checkProblem(await me.get(path, { Accept: HTML }), 404, 'not-found')
  })
}

async function takeDown(me: Visitor): Promise<{ removed: Upload; held: Upload }> {
  const [removed, held] = [await me.store(), await me.store()]
  await operate(me.host, ['remove', removed.id, '--reason', 'x'])
  await operate(me.host, ['hold', held.id, '--reason', 'x'])
  return { removed, held }
}

function metaOf(html: string): Map<string, string> {
  const tags = [...html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)">/g)]
  return new Map(tags.map(([, name, content]) => [name!, content!]))
}
