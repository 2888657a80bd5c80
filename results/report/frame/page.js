// Buttons that copy commands. Folded parts open for a link into them, and in print if they have the class .on-paper.
(() => {
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  };
  for (const command of document.querySelectorAll('pre.command')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await copied(command.textContent.trim());
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    const row = document.createElement('div');
    row.className = 'copyable';
    command.replaceWith(row);
    row.append(command, button);
  }
  const show = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    place.scrollIntoView();
  };
  addEventListener('hashchange', show);
  show();
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details.on-paper:not([open])')];
    for (const each of folded) each.open = true;
  });
  addEventListener('afterprint', () => {
    for (const each of folded) each.open = false;
  });
})();
