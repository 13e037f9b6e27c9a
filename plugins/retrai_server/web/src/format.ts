/** Values as people read them. */

// What changes how the characters around it look: C0 and C1 controls, and direction marks.
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text from outside: control characters are shown, so that none can act or hide. */
export function plain(text: unknown): string {
  return String(text ?? '')
    .replaceAll('\r\n', '\n')
    .replace(INVISIBLE, (found) => {
      const code = found.charCodeAt(0)
      if (code < 0x20) return String.fromCharCode(0x2400 + code)
      return code === 0x7f ? '\u2421' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
    })
}

export function json(value: unknown): string {
  return plain(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))
}

const NUMBER = new Intl.NumberFormat('en')
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function count(value: number): string {
  return NUMBER.format(value)
}

export function short(value: number): string {
  return SHORT.format(value)
}

export function cost(value: number | null | undefined): string {
  if (value == null) return 'not known'
  return `$${value.toFixed(value && value < 0.1 ? 4 : 2)}`
}

export function duration(seconds: number): string {
  if (seconds < 0.95) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const whole = Math.round(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min ${whole % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function age(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000)
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86400)} d ago`
}

export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour12: false })
}

export function folderName(path: string): string {
  return path.split('/').filter(Boolean).at(-1) ?? path
}

const GOING_ON = new Set(['pending', 'running', 'waiting'])

export function goesOn(status: string): boolean {
  return GOING_ON.has(status)
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}

/** What an agent reports of its work, as lines: lists, `name: value`, and what is done. */
export function inWords(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value ?? '')
  if (Array.isArray(value)) return value.map((each) => item(inWords(each))).join('\n')
  const { done, ...rest } = value as Record<string, unknown>
  const known = Object.entries(rest).filter(([, one]) => one !== null && one !== '')
  const names = typeof done === 'boolean' && known.length === 1
  const lines = known.map(([name, one]) => {
    const text = inWords(one)
    if (names) return `${done ? '✓' : '○'} ${indented(text)}`
    return typeof one === 'object' ? `${name}:\n  ${indented(text)}` : `${name}: ${indented(text)}`
  })
  if (typeof done === 'boolean' && !names) lines.push(`done: ${done}`)
  return lines.join('\n')
}

function item(text: string): string {
  return /^[✓○] /.test(text) ? text : `• ${indented(text)}`
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
