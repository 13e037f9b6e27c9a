/** Syntax colours as a tree of spans, which Vue renders as text: no HTML is ever parsed. */

import { common, createLowlight } from 'lowlight'

type Nodes = ReturnType<typeof lowlight.highlight>['children']

export interface Piece {
  text: string
  classes: string
}

const lowlight = createLowlight(common)
const LANGUAGES: Record<string, string> = {
  cc: 'cpp',
  cfg: 'ini',
  cjs: 'javascript',
  htm: 'xml',
  html: 'xml',
  jsx: 'javascript',
  mjs: 'javascript',
  toml: 'ini',
  tsx: 'typescript',
  vue: 'xml',
  yml: 'yaml',
}
const MAX_CHARS = 60_000

export function languageOf(path: string): string | null {
  const name = path.split('/').at(-1)?.toLowerCase() ?? ''
  if (name === 'makefile' || name === 'dockerfile') return lowlight.registered(name) ? name : null
  const extension = name.includes('.') ? (name.split('.').at(-1) ?? '') : ''
  const language = LANGUAGES[extension] ?? extension
  return language && lowlight.registered(language) ? language : null
}

/** Each line's pieces. */
export function highlight(lines: string[], language: string | null): Piece[][] {
  const text = lines.join('\n')
  if (!language || text.length > MAX_CHARS)
    return lines.map((line) => [{ text: line, classes: '' }])
  const found: Piece[][] = [[]]
  const walk = (nodes: Nodes, classes: string): void => {
    for (const node of nodes) {
      if (node.type === 'text') {
        node.value.split('\n').forEach((part, index) => {
          if (index) found.push([])
          if (part) found.at(-1)?.push({ text: part, classes })
        })
      } else if (node.type === 'element') {
        const own = node.properties.className
        walk(node.children as Nodes, Array.isArray(own) ? own.join(' ') : classes)
      }
    }
  }
  walk(lowlight.highlight(language, text).children, '')
  return found
}
