import { folderName, plain } from './format'
import type { RunSummary } from './types'

export function canAsk(): boolean {
  return 'Notification' in window && Notification.permission === 'default'
}

/** Tell a person who looks at something else that a run waits. */
export function notify(run: RunSummary): void {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  if (document.visibilityState === 'visible' && document.hasFocus()) return
  try {
    const notification = new Notification('retrai waits for an answer', {
      body: plain(`${run.goal ?? run.agent} in ${folderName(run.cwd)}`),
      tag: run.run_id,
      icon: '/icon.svg',
    })
    notification.onclick = () => {
      window.focus()
      notification.close()
    }
  } catch {
    // Chrome for Android has the class, and lets only service workers use it.
  }
}
