import { plain } from './format'
import type { Question } from './types'

export function canAsk(): boolean {
  return 'Notification' in window && Notification.permission === 'default'
}

/** Tell a person who looks at something else that a run waits. */
export function notify(runId: string, question: Question): void {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  if (document.visibilityState === 'visible' && document.hasFocus()) return
  const notification = new Notification('retrai waits for an answer', {
    body: plain(question.text),
    tag: `${runId}/${question.id}`,
    icon: '/icon.svg',
  })
  notification.onclick = () => {
    window.focus()
    notification.close()
  }
}
