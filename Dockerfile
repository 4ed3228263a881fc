# Ramify with its doors and what goes beyond one machine; nothing is downloaded when it runs. Used by compose.yaml.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 ramify
WORKDIR /opt/ramify
COPY . .
# torch first, from the constraint: the newest would bring several GB of CUDA.
RUN pip install --no-cache-dir -c constraints.txt '.[milvus,mcp,openai,postgres,serve,studio,watch]'

USER ramify
WORKDIR /home/ramify
ENV RAMIFY_CACHE=/home/ramify/cache
RUN mkdir cache documents
EXPOSE 8484
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8484/health', timeout=5)"]
ENTRYPOINT ["ramify"]
CMD ["serve", "--host", "0.0.0.0"]
