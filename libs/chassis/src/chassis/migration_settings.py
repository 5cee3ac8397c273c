"""What `migrate`, `draft` and `check` read from the environment, the same for every service."""

from pydantic import SecretStr

from chassis.settings import ServiceSettings


class MigrationSettings(ServiceSettings):
    """`DATABASE_URL`, and `DATABASE_ADMIN_URL` where role and schema are to be created; a broker is not needed."""

    broker_url: SecretStr = SecretStr("amqp://unused@localhost/")
    database_admin_url: SecretStr | None = None

    def addresses(self) -> tuple[str, str | None]:
        """The service's own database address, and an administrator's if there is one."""
        admin_url = self.database_admin_url
        return self.database_url.get_secret_value(), admin_url.get_secret_value() if admin_url else None
