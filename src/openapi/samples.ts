/** The same call in several languages, ready to be pasted. */
import { DELETE_PATH, rawPath, SHAREX_PATH, UPLOAD_FIELD, UPLOAD_PATH } from '../protocol.ts'
import { EXAMPLE_ID, EXAMPLE_KEY } from './schemas.ts'
import type { CodeSample } from './shapes.ts'

export function uploadSamples(baseUrl: string): CodeSample[] {
  const url = baseUrl + UPLOAD_PATH
  return [
    { lang: 'Shell', label: 'curl', source: `curl -F ${UPLOAD_FIELD}=@picture.png ${url}` },
    {
      lang: 'JavaScript',
      label: 'fetch',
      source: `const form = new FormData()
form.append('${UPLOAD_FIELD}', blob)
const answer = await fetch('${url}', { method: 'POST', body: form })
const told = await answer.json()
if (!answer.ok) throw new Error(told.detail)
const { link, key } = told`,
    },
    {
      lang: 'JavaScript',
      label: 'SDK',
      source: `import { upload } from 'pinhole/client'

const { link, key } = await upload(blob, { baseUrl: '${baseUrl}' })`,
    },
    {
      lang: 'Python',
      label: 'Python',
      source: `import requests

with open("picture.png", "rb") as image:
    answer = requests.post("${url}", files={"${UPLOAD_FIELD}": image})
told = answer.json()
if not answer.ok:
    raise RuntimeError(told["detail"])
print(told["link"], told["key"])`,
    },
    {
      lang: 'Text',
      label: 'ShareX',
      source: `Open ${baseUrl}${SHAREX_PATH} in a browser, then open the file that it saves.`,
    },
  ]
}

export function deleteSamples(baseUrl: string): CodeSample[] {
  const url = `${baseUrl}${DELETE_PATH}?key=${EXAMPLE_KEY}`
  return [
    { lang: 'Shell', label: 'curl', source: `curl -X DELETE '${url}'` },
    {
      lang: 'JavaScript',
      label: 'fetch',
      source: `const answer = await fetch('${url}', { method: 'DELETE' })
const { success } = await answer.json()`,
    },
    {
      lang: 'JavaScript',
      label: 'SDK',
      source: `import { remove } from 'pinhole/client'

await remove('${EXAMPLE_KEY}', { baseUrl: '${baseUrl}' })`,
    },
    {
      lang: 'Python',
      label: 'Python',
      source: `import requests

answer = requests.delete("${baseUrl}${DELETE_PATH}", params={"key": "${EXAMPLE_KEY}"})
print(answer.json()["success"])`,
    },
    { lang: 'Text', label: 'ShareX', source: 'Its history has the deletion address of each upload.' },
  ]
}

export function imageSamples(baseUrl: string): CodeSample[] {
  const url = `${baseUrl}${rawPath(EXAMPLE_ID)}`
  return [
    { lang: 'Shell', label: 'curl', source: `curl -OJ '${url}?dl=1'` },
    {
      lang: 'JavaScript',
      label: 'fetch',
      source: `const blob = await (await fetch('${url}')).blob()`,
    },
    { lang: 'HTML', label: 'HTML', source: `<img src="${url}.png" alt="">` },
    {
      lang: 'Python',
      label: 'Python',
      source: `import requests

image = requests.get("${url}").content`,
    },
  ]
}
