"""A conversation from Python: `longhaul serve`, then `python3 clients/python/example.py`."""

from longhaul import Longhaul, LonghaulError

with Longhaul() as client:  # LONGHAUL_URL and LONGHAUL_TOKEN, or url= and token=
    try:
        client.create_session("ticket-4711", title="Lost parcel")
    except LonghaulError as error:
        if error.code != "SESSION_EXISTS":
            raise
    client.append("ticket-4711", [{"role": "user", "text": "Where is my parcel 1Z-88?"}], key="mail-1")
    client.append("ticket-4711", [{"role": "assistant", "text": "At the harbor office, since Monday."}], key="reply-1")

    window = client.fit("ticket-4711", model="claude-sonnet-4-5", format="anthropic")
    print(len(window["messages"]), "messages fit")  # what anthropic.messages.create(messages=…) takes

    for hit in client.recall("where is the parcel?", k=1)["hits"]:
        print(hit["entry"], hit["text"])
