import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnvFile } from '../src/node/env-file.ts'

const read = (text: string) => Object.fromEntries(parseEnvFile(text, 'pinhole.env'))

test('keeps & and # in values, quoted or not', () => {
  const text = `
# a comment
; another
OBJECTS_URL=s3://bucket/prefix?endpoint=https://host&region=eu
NOTIFY="https://host/path#whsec_abc=,smtps://user:password@host?from=a&to=b"
TERMS_FILE='/etc/pinhole/our terms.txt'
  HOST = 0.0.0.0
EMPTY=
`
  assert.deepEqual(read(text), {
    OBJECTS_URL: 's3://bucket/prefix?endpoint=https://host&region=eu',
    NOTIFY: 'https://host/path#whsec_abc=,smtps://user:password@host?from=a&to=b',
    TERMS_FILE: '/etc/pinhole/our terms.txt',
    HOST: '0.0.0.0',
    EMPTY: '',
  })
})

test('parses quotes, backslashes and line continuations like systemd', () => {
  const text = String.raw`A=one\
two
B="say \"hi\" for \$5 \n"
C=a\ b\\c
D='a\b'"c" d
E=Ada's "pictures"
`
  assert.deepEqual(read(text), {
    A: 'onetwo',
    B: 'say "hi" for $5 \\n',
    C: 'a b\\c',
    D: 'a\\bcd',
    E: `Ada's "pictures"`,
  })
})

test('reports the line number of an invalid assignment', () => {
  assert.throws(() => read('A=1\nexport B=2'), /pinhole\.env, line 2: write NAME=value/)
  assert.throws(() => read('A="open'), /pinhole\.env, line 1/)
})
