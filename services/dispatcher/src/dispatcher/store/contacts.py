"""Whom each number has written to and what it told them last, as hashes: written by the statement that settles."""

REMEMBER = """
        INSERT INTO dispatcher.contacts (instance, recipient_hash, last_text_hash, last_sent_at)
        SELECT DISTINCT ON (instance, recipient_hash) instance, recipient_hash, text_hash, finished_at
          FROM {moved} WHERE state = 'DISPATCHED'
         ORDER BY instance, recipient_hash, finished_at DESC
            ON CONFLICT (instance, recipient_hash) DO UPDATE
           SET last_text_hash = excluded.last_text_hash, last_sent_at = excluded.last_sent_at
         WHERE contacts.last_sent_at <= excluded.last_sent_at"""
"""For a WITH clause, from the jobs that `moved`. Its locks come after those of jobs and before those of lanes."""

REMEMBERED = "job.instance, job.recipient_hash, job.text_hash, job.state, job.finished_at"
"""What it needs to know of them."""
