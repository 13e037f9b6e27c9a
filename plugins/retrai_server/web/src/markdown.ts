/** Markdown as a tree that Vue renders: no HTML is ever parsed, and what the text has of it is text. */

import { sanitize } from 'hast-util-sanitize'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { toHast } from 'mdast-util-to-hast'
import { gfmTable } from 'micromark-extension-gfm-table'
import { h, type VNodeChild } from 'vue'

import { plain } from './format'

type Root = Extract<ReturnType<typeof toHast>, { type: 'root' }>
type Node = Root['children'][number]

const SCHEMA = {
  tagNames: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code'],
    ...['em', 'strong', 'br', 'hr', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  attributes: { a: ['href'], ol: ['start'] },
  protocols: { href: ['http', 'https'] },
}

export function markdown(text: string): VNodeChild[] {
  const tree = fromMarkdown(plain(text), {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  })
  const hast = toHast(tree, {
    handlers: {
      html: (_: unknown, node: { value: string }) => ({ type: 'text', value: node.value }),
      image: (_: unknown, node: { alt?: string | null }) => ({
        type: 'text',
        value: node.alt ?? '',
      }),
    },
  })
  return (sanitize(hast, SCHEMA) as Root).children.map(rendered)
}

function rendered(node: Node): VNodeChild {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const children = node.children.map((child) => rendered(child as Node))
  const { href, start } = node.properties
  if (node.tagName === 'a') {
    // A path of the project leads nowhere from here.
    if (!/^https?:/i.test(String(href ?? ''))) return children
    return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, children)
  }
  if (node.tagName === 'pre' || node.tagName === 'table') {
    return h('div', { class: 'scrolls', tabindex: 0 }, [h(node.tagName, children)])
  }
  // The page has its own first headings.
  const heading = /^h([1-6])$/.exec(node.tagName)
  const tag = heading ? `h${Math.min(6, Number(heading[1]) + 2)}` : node.tagName
  return h(tag, start === undefined ? {} : { start }, children)
}
