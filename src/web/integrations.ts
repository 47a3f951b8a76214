/** Ready-made settings and scripts for screenshot tools, terminals and agents. */
import {
  API_DOCUMENT_PATH,
  API_PAGE_PATH,
  DELETE_PATH,
  EXPIRES_PARAMETER,
  rawPath,
  TOOLS_PATH,
  UPLOAD_FIELD,
  UPLOAD_PATH,
} from '../protocol.ts'

/**
 * ShareX custom uploader (https://getsharex.com/docs/custom-uploader), served at `/sharex.sxcu`. Opening the file in ShareX adds
 * the service as a destination. `baseUrl`: no trailing slash. `expires`: lifetime of the images.
 */
export function sharexConfig(baseUrl: string, expires?: string): object {
  return {
    Version: '17.0.0',
    Name: `Pinhole (${new URL(baseUrl).host}${expires === undefined ? '' : `, ${expires}`})`,
    DestinationType: 'ImageUploader',
    RequestMethod: 'POST',
    RequestURL: `${baseUrl}${UPLOAD_PATH}`,
    ...(expires !== undefined && { Parameters: { [EXPIRES_PARAMETER]: expires } }),
    Headers: { Accept: 'application/json' },
    Body: 'MultipartFormData',
    FileFormName: UPLOAD_FIELD,
    URL: '{json:link}',
    DeletionURL: '{json:delete}',
    ErrorMessage: '{json:detail}',
  }
}

/**
 * POSIX shell script served at `/upload.sh`. Needs only curl. Uploads files or stdin and prints the links. `baseUrl`: no
 * trailing slash.
 */
export function uploadScript(baseUrl: string): string {
  return `#!/bin/sh
# Uploads images to ${baseUrl} and prints their links. Needs only curl.
#   upload.sh picture.jpg …        files
#   grim - | upload.sh             an image from a pipe
#   PINHOLE_DIRECT=1 upload.sh …   prints the URL of the image file, for editors
#   PINHOLE_EXPIRES=1d upload.sh … expires after 1h, 1d, 7d, 30d or a number of seconds
#   PINHOLE_PASS=… upload.sh …     a pass from ${baseUrl}/pass, if the server requires one
# Saves deletion links to PINHOLE_KEYS (default ~/.local/share/pinhole/keys), readable only by you.
# Files are sent as they are. The service removes location and other metadata, except from GIFs, unless its operator has
# disabled this.
set -eu
server=\${PINHOLE_SERVER:-${shellQuoted(baseUrl)}}
server=\${server%/}
keys=\${PINHOLE_KEYS:-\${XDG_DATA_HOME:-$HOME/.local/share}/pinhole/keys}

# Extracts a value from the response, a flat JSON object of plain strings.
member() {
  printf '%s' "$1" | sed -n 's/.*"'"$2"'" *: *"\\([^"]*\\)".*/\\1/p'
}

upload() {
  answer=$(curl -sS -H 'Accept: application/json' \${PINHOLE_PASS:+-H} \${PINHOLE_PASS:+"Authorization: Bearer $PINHOLE_PASS"} -F "${UPLOAD_FIELD}=@-;filename=image" "$server${UPLOAD_PATH}\${PINHOLE_EXPIRES:+?${EXPIRES_PARAMETER}=$PINHOLE_EXPIRES}") || return 5
  link=$(member "$answer" link)
  if [ -z "$link" ]; then
    detail=$(member "$answer" detail)
    printf '%s: %s\\n' "$1" "\${detail:-The response is not from a Pinhole server. Is $server its address? A proxy may also refuse large files.}" >&2
    return 4
  fi
  (umask 077 && mkdir -p "$(dirname "$keys")" && printf '%s %s\\n' "$link" "$(member "$answer" delete)" >>"$keys") ||
    printf '%s: delete it at %s\\n' "$1" "$(member "$answer" delete)" >&2
  [ -z "\${PINHOLE_DIRECT:-}" ] || link="$server${rawPath('')}$(member "$answer" id)"
  printf '%s\\n' "$link"
}

if [ $# -eq 0 ]; then
  if [ -t 0 ]; then
    printf 'usage: %s FILE...   or   ... | %s\\n' "$0" "$0" >&2
    exit 2
  fi
  set -- -
fi
outcome=0
for file; do
  if [ "$file" = - ]; then
    upload stdin || outcome=$?
  elif [ -f "$file" ] && [ -r "$file" ]; then
    upload "$file" <"$file" || outcome=$?
  else
    printf '%s: no such file\\n' "$file" >&2
    outcome=3
  fi
done
exit $outcome
`
}

/**
 * Guide for AI agents, served at `/llms.txt` (https://llmstxt.org). `baseUrl`: no trailing slash. `limit`: maximum file size as
 * text.
 */
export function agentGuide(baseUrl: string, limit: string): string {
  return `# Pinhole at ${new URL(baseUrl).host}

> Anonymous image sharing: send a picture, get a link, delete it with a key. No account, no API key.

## Upload

\`\`\`sh
curl -sS -F ${UPLOAD_FIELD}=@picture.png ${baseUrl}${UPLOAD_PATH}
\`\`\`

One field named \`${UPLOAD_FIELD}\`: a JPEG, PNG, GIF, WebP or AVIF of up to ${limit}. The response is 201 with JSON:

- \`link\`: the page to share with people
- \`id\`: \`${baseUrl}${rawPath('<id>')}\` is the image itself, for Markdown and HTML
- \`key\` and \`delete\`: for deletion, shown only once. Keep them, and show them only to the person you work for.

\`?${EXPIRES_PARAMETER}=1h\` (or 1d, 7d, 30d) deletes the picture after that time. \`Accept: text/plain\` returns only the link.

## Before you upload

Anyone with the link can see the picture. Ask the person first if it shows private data, and don't upload screenshots
with passwords, tokens or keys.

## Delete

\`\`\`sh
curl -sS -X DELETE '${baseUrl}${DELETE_PATH}?key=KEY'
\`\`\`

## Errors

\`application/problem+json\` with a code in \`error\` and a sentence in \`detail\`. After a 429, wait \`Retry-After\` seconds.
Send a random \`Idempotency-Key\`, such as a UUID, with uploads that you may retry, and keep it secret: never derive it from
the picture, because whoever guesses it gets the deletion key.

## More

- [API reference](${baseUrl}${API_PAGE_PATH})
- [OpenAPI document](${baseUrl}${API_DOCUMENT_PATH})
- [Tools](${baseUrl}${TOOLS_PATH})
`
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
